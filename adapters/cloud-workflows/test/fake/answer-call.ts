import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Call } from "./call.ts";
import { type Fault, type Faults, findFault } from "./faults.ts";
import {
  GoogleError,
  notFound,
  permissionDenied,
  quotaExceeded,
  toErrorBody,
  unauthenticated,
} from "./google-error.ts";
import type { CallRecord, Journal } from "./journal.ts";
import { toText } from "./json-text.ts";
import { perform } from "./methods/perform.ts";
import { toExecutionName } from "./methods/to-execution.ts";
import type { Meter } from "./quotas.ts";
import { findRoute, permissions } from "./routes.ts";
import { checkLocation, toLocation, type World } from "./world.ts";

export interface CallState {
  readonly world: World;
  readonly meter: Meter;
  readonly journal: Journal;
  /** The only tokens that are taken; undefined: any. */
  readonly tokens: readonly string[] | undefined;
  faults(): Faults;
  untilThawed(): Promise<void>;
}

export const answerCall = async (
  state: CallState,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const call = await readCall(message, state.world);
  if (call === undefined) {
    send(response, 404, toErrorBody(notFound()));
    return;
  }
  const record = state.journal.open(call);
  await state.untilThawed();
  const fault = findFault(state.faults(), call);
  if (fault !== undefined && !comesAfter(fault)) return failBefore(fault, record, message, response);
  let answer: { readonly status: number; readonly body: object | undefined; readonly headers?: GoogleError["headers"] };
  try {
    admit(state, call);
    const { answer: body, execution } = perform(state.world, call);
    record.accepted = true;
    if (execution !== undefined)
      state.journal.started({ name: toExecutionName(state.world, execution), labels: execution.labels, call: record });
    answer = { status: 200, body };
  } catch (error) {
    if (!(error instanceof GoogleError)) throw error;
    answer = { status: error.status, body: toErrorBody(error), headers: error.headers };
  }
  if (fault?.kind === "delay") await delay(state.world, fault.ms, response);
  else if (fault !== undefined && record.accepted) return failAfter(fault, record, message, response);
  record.status = answer.status;
  record.answered = send(response, answer.status, answer.body, answer.headers);
};

/** Whether the request is carried out first. */
const comesAfter = (fault: Fault): boolean =>
  fault.kind === "lost" ||
  fault.kind === "error-after" ||
  fault.kind === "delay" ||
  fault.kind === "garbage" ||
  (fault.kind === "hang" && fault.isAccepted);

/** In the order that Google's front ends have: who asks, whether too often, whether he may. */
const admit = ({ world, meter, tokens, faults }: CallState, call: Call): void => {
  const { denies = [], tokensExpired = false } = faults();
  const { method, resource, token } = call;
  if (tokensExpired || (tokens !== undefined && (token === undefined || !tokens.includes(token))))
    throw unauthenticated();
  const location = toLocation(world, resource);
  const excess = meter.take(method, location);
  if (excess !== undefined)
    throw quotaExceeded(excess.metric, excess.limit, world.projects.get(location.split("/")[0] ?? "") ?? "0");
  const permission = permissions[method];
  if (denies.includes(permission)) throw permissionDenied(permission, resource);
  checkLocation(world, resource, permission);
};

const failBefore = (fault: Fault, record: CallRecord, message: IncomingMessage, response: ServerResponse): void => {
  switch (fault.kind) {
    case "error": {
      const headers = fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) };
      const error = new GoogleError(fault.code, fault.message ?? "This was made to fail.", [], headers);
      record.status = error.status;
      send(response, error.status, toErrorBody(error), error.headers);
      return;
    }
    case "html":
      record.status = fault.status;
      response.writeHead(fault.status, {
        "content-type": "text/html; charset=UTF-8",
        ...(fault.retryAfterS === undefined ? {} : { "retry-after": String(fault.retryAfterS) }),
      });
      response.end(`<!DOCTYPE html><html><title>Error ${fault.status}</title><p>That’s an error.</html>`);
      return;
    case "cut":
      message.socket.destroy();
      return;
    default:
      // Never answered: the caller hangs up, or the fake is closed.
      return;
  }
};

const failAfter = (fault: Fault, record: CallRecord, message: IncomingMessage, response: ServerResponse): void => {
  switch (fault.kind) {
    case "error-after": {
      const error = new GoogleError(fault.code, "This was made to fail.");
      record.status = error.status;
      send(response, error.status, toErrorBody(error));
      return;
    }
    case "garbage":
      record.status = 200;
      response.writeHead(200, { "content-type": "application/json; charset=UTF-8" });
      response.end(fault.body);
      return;
    case "lost":
      message.socket.destroy();
      return;
    default:
      return;
  }
};

const delay = async ({ clock }: World, ms: number, response: ServerResponse): Promise<void> => {
  const hungUp = new AbortController();
  response.on("close", () => hungUp.abort());
  try {
    await clock.until(clock.now() + ms, hungUp.signal);
  } catch {
    // Nobody waits any more.
  }
};

const readCall = async (message: IncomingMessage, { clock }: World): Promise<Call | undefined> => {
  const { method = "GET", url = "/", headers } = message;
  const origin = `http://${headers.host ?? "127.0.0.1"}`;
  const { pathname, searchParams } = new URL(url, origin);
  const body = await text(message);
  const route = findRoute(method, pathname);
  if (route === undefined) return undefined;
  return {
    ...route,
    query: searchParams,
    httpMethod: method,
    contentType: headers["content-type"] ?? "",
    body,
    token: /^Bearer (.+)$/i.exec(headers.authorization ?? "")?.[1],
    origin,
    at: clock.now(),
  };
};

/** False when the caller has hung up. */
const send = (
  response: ServerResponse,
  status: number,
  body: object | undefined,
  headers: Readonly<Record<string, string>> = {},
): boolean => {
  if (response.destroyed || response.socket?.destroyed !== false) return false;
  const json = toText(body);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json; charset=UTF-8",
    "content-length": Buffer.byteLength(json),
  });
  response.end(json);
  return true;
};
