import { isObject, isTemplate, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

/** As it is configured; a text is a number in a template that is still to be filled (`{{input.x}}`). */
type Count = number | string;

/** How BullMQ treats the jobs of a tool. Numbers may be templates, too. */
export interface JobOptions {
  /** How often a job is tried in all. BullMQ's default is once. */
  readonly attempts?: Count;
  /** Pause before another attempt: milliseconds, or `{ type: fixed | exponential, delay, jitter? }`. */
  readonly backoff?: Count | { readonly type: string; readonly delay?: Count; readonly jitter?: number };
  /** 1 is first, 2,097,151 last; 0 goes before all of them. */
  readonly priority?: Count;
  /** Milliseconds before a job may be taken. */
  readonly delay?: Count;
  /** While a job with this ID is there (or for `ttl` milliseconds) a further start is refused. */
  readonly deduplication?: { readonly id: string; readonly ttl?: Count };
  /** The largest input (bytes). */
  readonly sizeLimit?: Count;
  /** How many lines of a job's log are kept. */
  readonly keepLogs?: Count;
  /** How many stack traces are kept. */
  readonly stackTraceLimit?: Count;
  /** Take the newest first. */
  readonly lifo?: boolean;
}

const lastPriority = 2 ** 21 - 1;
const maxMs = 365 * 24 * 60 * 60 * 1000;

/** Once its template is filled, a number is a text. */
const parseWhole = (at: string, value: unknown, min: number, max: number): Count => {
  if (typeof value === "string" && isTemplate(value)) return value;
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
  throw misconfigured(at, `must be a whole number from ${min} to ${max}, got ${showValue(value)}`);
};

const parseBackoff = (at: string, value: unknown): NonNullable<JobOptions["backoff"]> => {
  if (!isObject(value)) return parseWhole(at, value, 0, maxMs);
  refuseOtherMembers(value, ["type", "delay", "jitter"], `${at}.`, "unknown member");
  const { type, delay, jitter } = value;
  if (typeof type !== "string" || type === "")
    throw misconfigured(`${at}.type`, `must name a strategy, got ${showValue(type)}`);
  if (jitter !== undefined && !(typeof jitter === "number" && jitter >= 0 && jitter <= 1))
    throw misconfigured(`${at}.jitter`, `must be from 0 to 1, got ${showValue(jitter)}`);
  return {
    type,
    ...(delay === undefined ? {} : { delay: parseWhole(`${at}.delay`, delay, 0, maxMs) }),
    ...(jitter === undefined ? {} : { jitter }),
  };
};

const parseDeduplication = (at: string, value: unknown): NonNullable<JobOptions["deduplication"]> => {
  if (!isObject(value)) throw misconfigured(at, `must be { id, ttl? }, got ${showValue(value)}`);
  // `replace`, `extend` and `keepLastIfActive` would drop or put off a job that a task stands for.
  refuseOtherMembers(value, ["id", "ttl"], `${at}.`, "unknown member");
  const { id, ttl } = value;
  if (typeof id !== "string" || id === "") throw misconfigured(`${at}.id`, `must be a text, got ${showValue(id)}`);
  return { id, ...(ttl === undefined ? {} : { ttl: parseWhole(`${at}.ttl`, ttl, 1, maxMs) }) };
};

const parseFlag = (at: string, value: unknown): boolean => {
  if (typeof value === "boolean") return value;
  throw misconfigured(at, `must be true or false, got ${showValue(value)}`);
};

type Parser = (at: string, value: unknown) => unknown;
const whole =
  (min: number, max: number): Parser =>
  (at, value) =>
    parseWhole(at, value, min, max);

const parsers: Readonly<Record<keyof JobOptions, Parser>> = {
  attempts: whole(1, 1000),
  backoff: parseBackoff,
  priority: whole(0, lastPriority),
  delay: whole(0, maxMs),
  deduplication: parseDeduplication,
  sizeLimit: whole(1, 2 ** 29),
  keepLogs: whole(1, 1_000_000),
  stackTraceLimit: whole(0, 1000),
  lifo: parseFlag,
};

const retention = ["removeOnComplete", "removeOnFail"];

/** Checks the shape of job options. Throws `misconfigured` with `data.path`. */
export const parseJobOptions = (value: unknown, at: string): JobOptions => {
  if (!isObject(value)) throw misconfigured(at, `must be a map of job options, got ${showValue(value)}`);
  for (const name of retention)
    if (name in value)
      throw misconfigured(
        `${at}.${name}`,
        "is always false: a count or an age trims the whole queue, other jobs included, and a result that is removed at once cannot be read again",
      );
  const known = Object.keys(parsers);
  refuseOtherMembers(value, known, `${at}.`, `no job option of this adapter, which knows ${known.join(", ")}`);
  const given = Object.entries(parsers).filter(([name]) => value[name] !== undefined);
  return Object.fromEntries(given.map(([name, parse]) => [name, parse(`${at}.${name}`, value[name])]));
};
