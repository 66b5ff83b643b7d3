import { isObject } from "../is-object.ts";
import { misconfigured, refuseOthers, show } from "./misconfigured.ts";

/** How BullMQ treats the jobs of a tool. Numbers may be templates, too. */
export interface JobOptions {
  /** How often a job is tried in all. BullMQ's default is once. */
  readonly attempts?: number | string;
  /** Pause before another attempt: milliseconds, or `{ type: fixed | exponential, delay, jitter? }`. */
  readonly backoff?: number | string | { readonly type: string; readonly delay?: number; readonly jitter?: number };
  /** 1 is first, 2,097,151 last; 0 goes before all of them. */
  readonly priority?: number | string;
  /** Milliseconds before a job may be taken. */
  readonly delay?: number | string;
  /** While a job with this ID is there (or for `ttl` milliseconds) a further start is refused. */
  readonly deduplication?: { readonly id: string; readonly ttl?: number };
  /** The largest input (bytes). */
  readonly sizeLimit?: number;
  /** How many lines of a job's log are kept. */
  readonly keepLogs?: number;
  /** How many stack traces are kept. */
  readonly stackTraceLimit?: number;
  /** Take the newest first. */
  readonly lifo?: boolean;
}

const lastPriority = 2 ** 21 - 1;
const longestMs = 365 * 24 * 60 * 60 * 1000;

const isTemplate = (value: unknown): value is string => typeof value === "string" && value.includes("{{");

/** Once its template is filled, a number is a text. */
const parseWhole = (at: string, value: unknown, least: number, most: number): number | string => {
  if (isTemplate(value)) return value;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= least && number <= most) return number;
  throw misconfigured(at, `must be a whole number from ${least} to ${most}, got ${show(value)}`);
};

const parseBackoff = (at: string, value: unknown): NonNullable<JobOptions["backoff"]> => {
  if (!isObject(value)) return parseWhole(at, value, 0, longestMs);
  refuseOthers(value, ["type", "delay", "jitter"], `${at}.`, "unknown member");
  const { type, delay, jitter } = value;
  if (typeof type !== "string" || type === "")
    throw misconfigured(`${at}.type`, `must name a strategy, got ${show(type)}`);
  if (jitter !== undefined && !(typeof jitter === "number" && jitter >= 0 && jitter <= 1))
    throw misconfigured(`${at}.jitter`, `must be from 0 to 1, got ${show(jitter)}`);
  return {
    type,
    ...(delay === undefined ? {} : { delay: parseWhole(`${at}.delay`, delay, 0, longestMs) as number }),
    ...(jitter === undefined ? {} : { jitter }),
  };
};

const parseDeduplication = (at: string, value: unknown): NonNullable<JobOptions["deduplication"]> => {
  if (!isObject(value)) throw misconfigured(at, `must be { id, ttl? }, got ${show(value)}`);
  // `replace`, `extend` and `keepLastIfActive` would drop or put off a job that a task stands for.
  refuseOthers(value, ["id", "ttl"], `${at}.`, "unknown member");
  const { id, ttl } = value;
  if (typeof id !== "string" || id === "") throw misconfigured(`${at}.id`, `must be a text, got ${show(id)}`);
  return { id, ...(ttl === undefined ? {} : { ttl: parseWhole(`${at}.ttl`, ttl, 1, longestMs) as number }) };
};

const parseFlag = (at: string, value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw misconfigured(at, `must be true or false, got ${show(value)}`);
};

type Parser = (at: string, value: unknown) => unknown;
const whole =
  (least: number, most: number): Parser =>
  (at, value) =>
    parseWhole(at, value, least, most);

const parsers: Readonly<Record<keyof JobOptions, Parser>> = {
  attempts: whole(1, 1000),
  backoff: parseBackoff,
  priority: whole(0, lastPriority),
  delay: whole(0, longestMs),
  deduplication: parseDeduplication,
  sizeLimit: whole(1, 2 ** 29),
  keepLogs: whole(1, 1_000_000),
  stackTraceLimit: whole(0, 1000),
  lifo: parseFlag,
};

const retention = ["removeOnComplete", "removeOnFail"];

/** Checks the shape of job options. Throws `misconfigured` with `data.path`. */
export const parseJobOptions = (value: unknown, at: string): JobOptions => {
  if (!isObject(value)) throw misconfigured(at, `must be a map of job options, got ${show(value)}`);
  for (const name of retention)
    if (name in value)
      throw misconfigured(
        `${at}.${name}`,
        "is always false: any other value trims the whole queue, other jobs included",
      );
  const known = Object.keys(parsers);
  refuseOthers(value, known, `${at}.`, `no job option of this adapter, which knows ${known.join(", ")}`);
  const given = Object.entries(parsers).filter(([name]) => value[name] !== undefined);
  return Object.fromEntries(given.map(([name, parse]) => [name, parse(`${at}.${name}`, value[name])]));
};
