import { invalidInput } from "../../contract/misconfigured.ts";

/** A name in a record must not outgrow it: 64 characters that JSON writes as one byte each. */
export const requireLabel = (path: string, label: unknown): string => {
  if (typeof label === "string" && /^[!#-[\]-~]{1,64}$/.test(label)) return label;
  const needed = '1 to 64 visible ASCII characters other than " and \\ are needed';
  throw invalidInput(path, `${needed}, got ${JSON.stringify(label)}`);
};
