import type { ChangeNotice } from "./change-sender.ts";

/**
 * What came on the channel, if it is a notice exactly as this version writes them. Undefined otherwise, which means that
 * anything may have changed: whoever may connect to the database can say anything there, and a later version more than we know of.
 */
export const parseNotice = (payload: string | undefined): ChangeNotice | undefined => {
  const told = parseJson(payload);
  if (typeof told !== "object" || told === null) return undefined;
  const { origin, taskIds, ...others } = told as Partial<ChangeNotice>;
  const isOurs =
    typeof origin === "string" && (taskIds === null || isTexts(taskIds)) && Object.keys(others).length === 0;
  return isOurs ? { origin, taskIds } : undefined;
};

const parseJson = (text: string | undefined): unknown => {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
};

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");
