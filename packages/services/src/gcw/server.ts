import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ApiError, invalid, notFound } from "./api-error.ts";
import { deliver, type Execution } from "./execution.ts";
import { parseFilter } from "./filter.ts";
import { parseJson, type Value, type ValueMap } from "./values.ts";
import { cancelExecution, executionIn, type Fields, newExecution, newWorkflow, type Workflow } from "./workflows.ts";

interface Call {
  readonly request: IncomingMessage;
  /** The address of this server. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

/** More than any documented limit of a request. */
const mostBodyBytes = 4 * 1024 * 1024;
const host = "127.0.0.1";

export interface GcwServer {
  /** For the endpoint of the vendor's clients, in their REST mode. */
  readonly url: string;
  /** Ends it, with all that it holds. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a Google Cloud Workflows in this process, whose workflows really run. Any project and any location will do.
 * @param given `port`: in place of a free one.
 * @throws When the port is taken.
 */
export const startGcw = async (given: { readonly port?: number } = {}): Promise<GcwServer> => {
  const workflows = new Map<string, Workflow>();
  const answer = answers(workflows);
  const server = createServer((request, response) => {
    const { port } = server.address() as AddressInfo;
    void respond(answer, `http://${host}:${port}`, request, response);
  });
  server.listen(given.port ?? 0, host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EADDRINUSE" ? new Error(`${host}:${given.port} is in use`) : error;
  });
  const closed = once(server, "close");
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const { executions } of workflows.values()) for (const one of executions) one.cancel();
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

type Answer = (call: Call) => unknown;

const respond = async (
  answer: Answer,
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  let [code, body]: [number, unknown] = [200, undefined];
  try {
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", url);
    const text = await bodyOf(request);
    body = answer({
      ...{ request, url, path, query, body: text, location: "", workflow: "", execution: "", callback: "" },
    });
  } catch (error) {
    const refusal = error instanceof ApiError ? error : new ApiError(500, "INTERNAL", String(error));
    code = refusal.code;
    body = { error: { code, message: refusal.message, status: refusal.status } };
  }
  response.writeHead(code, { "content-type": "application/json; charset=UTF-8" });
  response.end(body === undefined ? "" : JSON.stringify(body));
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBodyBytes) throw invalid(`the request has more than ${mostBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
};

/** The fields of a JSON body. As Google does, it refuses fields that it does not know. */
const fieldsOf = (call: Call, ...known: readonly string[]): Fields => {
  let fields: unknown;
  try {
    fields = call.body === "" ? {} : JSON.parse(call.body);
  } catch (error) {
    throw invalid(`the body is no JSON: ${error instanceof Error ? error.message : error}`);
  }
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) throw invalid("the body is no object");
  for (const name of Object.keys(fields)) if (!known.includes(name)) throw invalid(`there is no field ${name}`);
  return fields as Fields;
};

/** Refuses query parameters that mean something to Google and nothing here. Those with a $ are of every Google API. */
const onlyQuery = ({ query }: Call, ...known: readonly string[]): void => {
  for (const name of query.keys())
    if (!name.startsWith("$") && !known.includes(name)) throw invalid(`there is no parameter ${name}`);
};

const pageSizeOf = ({ query }: Call, unset: number, max: number): number => {
  const text = query.get("pageSize") ?? "0";
  if (!/^\d+$/.test(text)) throw invalid(`pageSize is ${text}`);
  return Number(text) === 0 ? unset : Math.min(Number(text), max);
};

/** A page of what comes after the token, which is the key of the item before. */
const pageOf = <Item>(call: Call, items: ReadonlyMap<string, Item>, size: number) => {
  const after = call.query.get("pageToken") ?? "";
  const keys = [...items.keys()].filter((key) => key > after).sort();
  const page = keys.slice(0, size);
  const rest = keys.length > size ? { nextPageToken: page.at(-1) } : {};
  return { page: page.map((key) => items.get(key) as Item), rest };
};

/** By its name, or by its number, as clients send it that encode enums as integers. */
const isFullView = ({ query }: Call, unset: boolean): boolean => {
  const view = query.get("view") ?? "0";
  if (["0", "EXECUTION_VIEW_UNSPECIFIED"].includes(view)) return unset;
  if (["1", "BASIC", "2", "FULL"].includes(view)) return ["2", "FULL"].includes(view);
  throw invalid(`view is ${view}`);
};

/** JSON of protocol buffers leaves out what is empty. */
const unlessEmpty = (name: string, items: readonly unknown[]): object => (items.length === 0 ? {} : { [name]: items });

/** The long-running operation of a change that was made at once. */
const done = (location: string, type: string, response: object): object => ({
  name: `${location}/operations/operation-${randomBytes(8).toString("hex")}`,
  metadata: { "@type": "type.googleapis.com/google.cloud.workflows.v1.OperationMetadata" },
  done: true,
  response: { "@type": `type.googleapis.com/${type}`, ...response },
});

/** The paths of the APIs Workflows v1 and Workflow Executions v1, without the names in them. */
const answers = (workflows: Map<string, Workflow>): Answer => {
  let count = 0;
  const create = (call: Call, location: string): object => {
    onlyQuery(call, "workflowId");
    const fields = fieldsOf(call, "name", "description", "sourceContents", "labels", "serviceAccount", "callLogLevel");
    const id = call.query.get("workflowId") ?? "";
    // Documented of workflowId: letters, digits, underscores and dashes, 64 at most, a letter first.
    if (!/^[A-Za-z]([\w-]{0,62}[A-Za-z0-9])?$/.test(id)) throw invalid(`workflowId is ${id}`);
    const name = `${location}/workflows/${id}`;
    if (workflows.has(name)) throw new ApiError(409, "ALREADY_EXISTS", `Workflow ${name} exists`);
    const made = newWorkflow(name, ++count, fields);
    workflows.set(name, made);
    return done(location, "google.cloud.workflows.v1.Workflow", made.resource);
  };
  const list = (call: Call, location: string): object => {
    onlyQuery(call, "pageSize", "pageToken");
    const here = new Map([...workflows].filter(([name]) => name.startsWith(`${location}/workflows/`)));
    const { page, rest } = pageOf(call, here, pageSizeOf(call, 500, 1000));
    const resources = page.map(({ resource }) => resource);
    return { ...unlessEmpty("workflows", resources), ...rest };
  };
  const remove = ({ resource, executions }: Workflow, location: string): object => {
    for (const one of executions) one.cancel();
    workflows.delete(resource.name);
    return done(location, "google.protobuf.Empty", {});
  };
  return (call) => {
    const { method = "" } = call.request;
    const [, location = "", rest = ""] = /^\/v1\/(projects\/[^/]+\/locations\/[^/]+)\/(.*)$/.exec(call.path) ?? [];
    const below = rest.split("/");
    const [, id = "", , execution = "", , callback = ""] = below;
    const found = (): Workflow => {
      const workflow = workflows.get(`${location}/workflows/${id}`);
      if (workflow === undefined) throw notFound(`Workflow ${location}/workflows/${id} does not exist`);
      return workflow;
    };
    const one = (): Execution => executionIn(found(), execution.replace(/:cancel$/, ""));
    const shape = below.map((part, index) => (index % 2 === 0 ? part : part.replace(/^[^:]+/, "*"))).join("/");
    if (shape === "workflows/*/executions/*/callbacks/*") return deliverTo(call, one(), callback);
    switch (`${method} ${shape}`) {
      case "POST workflows":
        return create(call, location);
      case "GET workflows":
        return list(call, location);
      case "GET workflows/*":
        onlyQuery(call, "revisionId");
        return found().resource;
      case "DELETE workflows/*":
        return remove(found(), location);
      case "POST workflows/*/executions":
        return createExecution(call, found());
      case "GET workflows/*/executions":
        return listExecutions(call, found());
      case "GET workflows/*/executions/*":
        onlyQuery(call, "view");
        return one().view(isFullView(call, true));
      case "POST workflows/*/executions/*:cancel":
        fieldsOf(call, "name");
        return cancelExecution(one()).view(true);
      case "GET workflows/*/executions/*/callbacks":
        return listCallbacks(call, one());
      default:
        throw notFound(`there is no ${method} ${call.path} here`);
    }
  };
};

const createExecution = (call: Call, workflow: Workflow): object => {
  onlyQuery(call);
  const levels = ["callLogLevel", "executionHistoryLevel", "disableConcurrencyQuotaOverflowBuffering"];
  return newExecution(workflow, fieldsOf(call, "name", "argument", "labels", ...levels), call.url).view(true);
};

const listCallbacks = (call: Call, { name, state, callbacks }: Execution): object => {
  onlyQuery(call, "pageSize", "pageToken");
  const { page, rest } = pageOf(call, state === "ACTIVE" ? callbacks : new Map(), pageSizeOf(call, 100, 100));
  const shown = page.map(({ id, method, waiters, unread }) => ({
    name: `${name}/callback/${id}`,
    method,
    ...(waiters.size > 0 && { waiters: String(waiters.size) }),
    ...(unread !== undefined && { availablePayloads: [unread.text] }),
  }));
  return { ...unlessEmpty("callbacks", shown), ...rest };
};

/** Newest first. A page token goes with the request that it was given to, but for its page size. */
const listExecutions = (call: Call, { executions }: Workflow): object => {
  onlyQuery(call, "pageSize", "pageToken", "view", "filter");
  const isFull = isFullView(call, false);
  const size = pageSizeOf(call, 100, isFull ? 100 : 1000);
  const filter = call.query.get("filter") ?? "";
  const matches = parseFilter(filter);
  const asked = ` ${isFull} ${filter}`;
  const token = Buffer.from(call.query.get("pageToken") ?? "", "base64url").toString();
  const [, given = String(executions.length)] = /^(\d+) /.exec(token) ?? [];
  if (token !== "" && token !== given + asked) throw invalid("pageToken does not go with this request");
  const page: object[] = [];
  for (let left = Number(given); left > 0; left--) {
    const one = executions[left - 1];
    if (one === undefined || !matches(one)) continue;
    if (page.length === size)
      return { executions: page, nextPageToken: Buffer.from(left + asked).toString("base64url") };
    page.push(one.view(isFull));
  }
  return unlessEmpty("executions", page);
};

/** A request to a callback needs an access token; any will do. */
const deliverTo = (call: Call, { state, callbacks }: Execution, id: string): undefined => {
  const { headers, method = "", url = "" } = call.request;
  if (!/^Bearer ./.test(headers.authorization ?? ""))
    throw new ApiError(401, "UNAUTHENTICATED", "the request has no access token");
  const callback = callbacks.get(id);
  if (callback === undefined || state !== "ACTIVE") throw notFound(`callback ${id} does not exist`);
  const texts = Object.entries(headers).filter(([name]) => name !== "authorization");
  const seen: ValueMap = new Map<string, Value>([
    ["body", sentBody(call.body, headers["content-type"] ?? "")],
    ["headers", new Map(texts.map(([name, text]) => [name, String(text)]))],
    ["method", method],
    ["query", new Map(call.query)],
    ["url", url],
  ]);
  const request = new Map<string, Value>([
    ["http_request", seen],
    ["received_time", new Date().toISOString()],
    ["type", "HTTP"],
  ]);
  deliver(callback, method, request, call.body);
};

const sentBody = (body: string, type: string): Value => {
  if (body === "") return null;
  if (!type.includes("json")) return body;
  try {
    return parseJson(body);
  } catch {
    return body;
  }
};
