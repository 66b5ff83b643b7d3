import type { ExecutionFailure, ExecutionProgress, JsonObject } from "@taskbridge/core/adapter";
import { isDeeper } from "./is-deeper.ts";
import { memberText } from "./member-text.ts";

const maxText = 4096;
const maxName = 200;
/** What a schema may be: it goes into the job's state, and from there through everybody's JSON. */
const maxSchemaBytes = 64 * 1024;
const deepestSchema = 100;

export interface Ask {
  readonly key: string;
  readonly message: string;
  readonly schema?: JsonObject;
  readonly url?: string;
}

/** What one report line says; one line may say several things. */
export interface Report {
  readonly progress?: ExecutionProgress;
  readonly ask?: Ask;
  readonly failure?: ExecutionFailure;
  /** It asks, but not in a way that can be put to anybody. */
  readonly isAskRefused?: true;
  /** JSON text, as the line has it. */
  readonly result?: string;
}

type Loose = Readonly<Record<string, unknown>>;

/** Of its own: the supervisor, one process for each job, loads no package. */
const isObject = (value: unknown): value is Loose =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

const isName = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxName;

const parseProgress = (value: unknown): ExecutionProgress | undefined => {
  if (!isObject(value)) return undefined;
  const { done, total, message } = value;
  const progress = {
    ...(isCount(done) ? { done } : {}),
    ...(isCount(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: message.slice(0, maxText) } : {}),
  };
  return Object.keys(progress).length === 0 ? undefined : progress;
};

const isSchema = (value: unknown): value is JsonObject =>
  isObject(value) && !isDeeper(value, deepestSchema) && Buffer.byteLength(JSON.stringify(value)) <= maxSchemaBytes;

const parseAsk = (value: unknown): Ask | undefined => {
  if (!isObject(value)) return undefined;
  const { key, message, schema, url } = value;
  if (!isName(key) || typeof message !== "string" || (schema !== undefined && !isSchema(schema))) return undefined;
  if (typeof url === "string" && url.length > maxText) return undefined;
  return {
    key,
    message: message.slice(0, maxText),
    ...(schema === undefined ? {} : { schema }),
    ...(typeof url === "string" ? { url } : {}),
  };
};

const parseFailure = (value: unknown): ExecutionFailure | undefined => {
  if (!isObject(value) || (value.kind !== "job" && value.kind !== "protocol") || !isName(value.code ?? "-"))
    return undefined;
  if (typeof value.reason !== "string" || value.reason === "") return undefined;
  return {
    kind: value.kind,
    reason: value.reason.slice(0, maxText),
    ...(typeof value.code === "string" ? { code: value.code } : {}),
    ...(typeof value.detail === "string" ? { detail: value.detail.slice(0, maxText) } : {}),
  };
};

/** The JSON of a report line. Undefined when it holds nothing we know, so that the line is log. */
export const parseReport = (json: string): Report | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const progress = parseProgress(value.progress);
  const ask = parseAsk(value.ask);
  const failure = parseFailure(value.failure);
  const result = memberText(json, "result");
  const report: Report = {
    ...(progress === undefined ? {} : { progress }),
    ...(ask === undefined ? {} : { ask }),
    ...(failure === undefined ? {} : { failure }),
    ...(result === undefined ? {} : { result }),
  };
  if (Object.keys(report).length === 0) return undefined;
  return value.ask === undefined || ask !== undefined ? report : { ...report, isAskRefused: true };
};
