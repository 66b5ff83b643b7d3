import { type ExecutionProgress, type ExecutionQuestion, isObject, type JsonObject } from "@taskbridge/core/adapter";
import { toLine } from "./to-line.ts";

/** What a job's progress tells. */
export interface ParsedProgress {
  readonly progress?: ExecutionProgress;
  readonly question?: ExecutionQuestion;
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

const toQuestion = (value: unknown): ExecutionQuestion | undefined => {
  if (!isObject(value)) return undefined;
  const { id, message, schema, expiresAt } = value;
  if (typeof id !== "string" || id === "" || typeof message !== "string" || message.trim() === "") return undefined;
  return {
    id,
    message,
    ...(isObject(schema) ? { schema: schema as JsonObject } : {}),
    ...(Number.isSafeInteger(expiresAt) ? { expiresAt: expiresAt as number } : {}),
  };
};

/** A question as the worker helper keeps it. */
export const parseQuestion = (json: string | undefined): ExecutionQuestion | undefined => {
  try {
    return toQuestion(JSON.parse(json ?? "null"));
  } catch {
    return undefined;
  }
};

const conventional = new Set(["done", "total", "message"]);

const parseObject = ({ question: asked, ...value }: Readonly<Record<string, unknown>>): ParsedProgress => {
  const { done, total, message } = value;
  const question = toQuestion(asked);
  const line = typeof message === "string" ? toLine(message) : "";
  const known: ExecutionProgress = {
    ...(isCount(done) ? { done } : {}),
    // A total that was passed is none.
    ...(isCount(total) && !(isCount(done) && done > total) ? { total } : {}),
    ...(line === "" ? {} : { message: line }),
  };
  const isOurs = Object.keys(value).every((name) => conventional.has(name));
  const hasProgress = isOurs || Object.keys(known).length > 0;
  const progress = hasProgress ? known : { message: asText(value) };
  return {
    ...(Object.keys(progress).length === 0 ? {} : { progress }),
    ...(question === undefined ? {} : { question }),
  };
};

const asMessage = (text: string): ParsedProgress => {
  const message = toLine(text);
  return message === "" ? {} : { progress: { message } };
};

const asText = (value: unknown): string => toLine(JSON.stringify(value));

/**
 * A job's progress, as BullMQ stores it: a number from 0 to 100 is a percentage, `{ done?, total?, message? }` is
 * ours, and anything else is shown as it is. Earlier versions of the worker helper kept their question in it.
 */
export const parseProgress = (json: string | undefined): ParsedProgress => {
  if (json === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return asMessage(json);
  }
  if (value === null) return {};
  if (isCount(value)) return { progress: value <= 100 ? { done: value, total: 100 } : { done: value } };
  if (isObject(value)) return parseObject(value);
  return asMessage(typeof value === "string" ? value : asText(value));
};
