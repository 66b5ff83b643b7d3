import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/adapter";

/** What was called, and what it is when nobody knows whether it arrived. */
export interface CallDetails {
  /** The permission that it needs, as in a role: `workflows.executions.create`. */
  readonly action: string;
  readonly ifSent: "unavailable" | "outcome_unknown";
  /** The resource that is not there when Google says that something is not: `workflow projects/…`. Default: it may be any. */
  readonly about?: string;
}

type CodeAndMessage = readonly [code: BridgeErrorCode, message: string];

/** By `google.rpc.Code`: https://cloud.google.com/apis/design/errors */
const codes = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** What means the same whoever answers. Of others, a gateway or a proxy says nothing about executions and permissions. */
const ofAnybody: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  429: "RESOURCE_EXHAUSTED",
  501: "UNIMPLEMENTED",
};

/** What Google refuses. Nothing was done then. Any other status may come after it was. */
const refusals: Readonly<Record<string, CodeAndMessage>> = {
  INVALID_ARGUMENT: ["invalid_input", "Google refuses what was sent with"],
  OUT_OF_RANGE: ["invalid_input", "Google refuses what was sent with"],
  NOT_FOUND: ["not_found", "no such execution or workflow, project or location:"],
  PERMISSION_DENIED: ["denied", "the server's Google credentials lack the permission"],
  UNAUTHENTICATED: ["unavailable", "the server's Google credentials have expired or are not valid at present for"],
  RESOURCE_EXHAUSTED: ["throttled", "Google's quota is used up for"],
  FAILED_PRECONDITION: ["conflict", "it is in no state for"],
  ALREADY_EXISTS: ["conflict", "it is in no state for"],
  UNIMPLEMENTED: ["unsupported", "the server at `endpoint` does not know"],
};

/** Told by 4xx as well. */
const mayHaveBegun: ReadonlySet<string> = new Set(["ABORTED", "CANCELLED", "DEADLINE_EXCEEDED", "UNKNOWN"]);

/** A quota is for a minute: how long one that is used up is waited for when Google does not say (milliseconds). */
const throttlePauseMs = 2_000;
const maxPauseMs = 300_000;

interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly statusDetails?: unknown;
  readonly response?: { readonly headers?: unknown; readonly data?: unknown };
}

const objectOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** What is read of an error's text (characters). */
const maxText = 2_000;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface ReadStatus {
  /** Of `google.rpc.Code`; empty where Google has not told one. */
  readonly status: string;
  readonly http?: number;
  /** Google's own. */
  readonly text: string;
}

/** Google's client throws errors of gRPC's form, or those of HTTP with the answer's text, whichever layer noticed. */
const readStatus = (thrown: Thrown): ReadStatus => {
  const http = [thrown.status, thrown.code].find(
    (value): value is number => typeof value === "number" && value >= 400 && value < 600,
  );
  if (http === undefined) {
    const code = typeof thrown.code === "number" ? codes[thrown.code] : undefined;
    return { status: code ?? "", text: textOf(thrown.message).slice(0, maxText) };
  }
  const bodies = [thrown.response?.data, parsed(textOf(thrown.response?.data)), parsed(textOf(thrown.message))];
  const error = bodies.map((body) => objectOf(objectOf(body).error)).find(({ status }) => typeof status === "string");
  return {
    status: textOf(error?.status) || (ofAnybody[http] ?? ""),
    http,
    text: textOf(error?.message).slice(0, maxText),
  };
};

const secondsOf = (value: unknown): number => {
  if (typeof value === "string") return Number.parseFloat(value);
  const { seconds, nanos } = objectOf(value);
  return Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9;
};

const retryAfterMs = (thrown: Thrown): number => {
  const { headers } = thrown.response ?? {};
  // Of another realm, it is no `Headers` of ours.
  const get = objectOf(headers).get;
  const header = typeof get === "function" ? Number(get.call(headers, "retry-after")) : Number.NaN;
  const body = objectOf(objectOf(parsed(textOf(thrown.message))).error).details;
  const details = [thrown.statusDetails, body].flatMap((list) => (Array.isArray(list) ? list : []));
  const reported = details.map((detail) => secondsOf(objectOf(detail).retryDelay));
  const [seconds] = [header, ...reported].filter((value) => value > 0);
  return seconds === undefined ? throttlePauseMs : Math.min(Math.ceil(seconds * 1_000), maxPauseMs);
};

const unreachable = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/** The connection was never made, in whichever of the causes that is said: `ENOTFOUND workflows.googleapis.com`. */
export const unreachableBy = (error: unknown): string | undefined => {
  let cause = objectOf(error);
  for (let depth = 0; depth < 5; depth++) {
    if (unreachable.test(textOf(cause.code))) return [textOf(cause.code), hostOf(cause)].filter(Boolean).join(" ");
    cause = objectOf(cause.cause ?? cause.error);
  }
  return undefined;
};

/** Where several addresses were tried, the first. */
const hostOf = ({ hostname, address, port, errors }: Readonly<Record<string, unknown>>): string => {
  if (Array.isArray(errors)) return hostOf({ ...objectOf(errors[0]), errors: undefined });
  return textOf(hostname) || (typeof port === "number" ? `${textOf(address)}:${port}` : textOf(address));
};

/** A message may be shown to callers, and repeats what Google was sent: short, on one line, and without addresses. */
const quote = (text: string): string =>
  text === ""
    ? ""
    : `: ${text
        .replaceAll(/https?:\/\/\S+/g, "[address]")
        .replaceAll(/[\s\p{Cc}]+/gu, " ")
        .slice(0, 200)}`;

/**
 * An error of Google's client. Messages name the permission, since that is what a role lacks; Google's own text stays in the cause,
 * except where only it says what is wrong with an input.
 */
export const toError = (error: unknown, { action, ifSent, about }: CallDetails): BridgeError => {
  if (isBridgeError(error)) return error;
  const thrown = objectOf(error) as Thrown;
  const unreached = unreachableBy(error);
  if (unreached !== undefined) {
    const message = `Google cannot be reached for ${action}: ${unreached}`;
    return new BridgeError("unavailable", message, { notSent: true, cause: error });
  }
  const { status, http, text } = readStatus(thrown);
  const refusal = Object.hasOwn(refusals, status) ? refusals[status] : undefined;
  const data = { action, googleStatus: status };
  if (refusal !== undefined) {
    const [code, message] = refusal;
    const pause = code === "throttled" ? { retryAfterMs: retryAfterMs(thrown) } : {};
    const lacking = /Permission '([\w.]+)'/.exec(text)?.[1] ?? action;
    const what = code === "not_found" && about !== undefined ? `there is no ${about}:` : message;
    const reported = code === "denied" ? `${what} ${lacking}${deniedBy(text)}` : `${what} ${action}`;
    const reason = code === "invalid_input" || code === "conflict" ? quote(text) : "";
    return new BridgeError(code, `${reported}${reason}`, { notSent: true, ...pause, data, cause: error });
  }
  if (http !== undefined && http < 500 && status !== "" && !mayHaveBegun.has(status))
    return new BridgeError("bad_response", `Google refuses ${action} (${http})`, { notSent: true, data, cause: error });
  if (http !== undefined && status === "") {
    const message = `${action}: something before Google answers (HTTP ${http}; a proxy, or \`endpoint\`)`;
    return new BridgeError(ifSent, message, { data, cause: error });
  }
  const isLate = /^(AbortError|TimeoutError)$/.test(textOf(thrown.name)) || isAborted(thrown);
  const why = isLate ? "no answer in time" : `failed (${http ?? (status || textOf(thrown.code) || "no answer")})`;
  return new BridgeError(ifSent, `${action}: ${why}`, { data, cause: error });
};

const isAborted = ({ cause, code }: Thrown): boolean =>
  [textOf(code), textOf(objectOf(cause).name)].some((name) => /^(ABORT_ERR|AbortError|TimeoutError)$/.test(name));

/** Other reasons than a role, which Google tells by the same status. */
const deniedBy = (text: string): string => {
  if (/has not been used in project|is disabled/.test(text)) return ": the API is not enabled in this project";
  return /\blocation\b.*(not found|unauthorized)/i.test(text) ? ": there may be no such location" : "";
};
