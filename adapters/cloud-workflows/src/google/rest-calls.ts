import { BridgeError, isObject } from "@taskbridge/core/adapter";
import type { Callback, GcwClient, Page, StepEntry, Workflow } from "./client.ts";
import { given } from "./given.ts";
import type { CallDetails } from "./to-error.ts";

/** Sends with the server's credentials, and throws what is refused. */
export type AuthorizedFetch = (
  url: string,
  init: RequestInit & { readonly responseType: "stream" },
) => Promise<Response>;

/** Runs calls with what a client has for them: its authentication, and Google's domain (`googleapis.com`). */
export type RestCall = <Value>(
  action: string,
  ifSent: CallDetails["ifSent"],
  signal: AbortSignal,
  work: (send: AuthorizedFetch, universeDomain: string) => Promise<Value>,
  about?: CallDetails["about"],
) => Promise<Value>;

type Fields = Readonly<Record<string, unknown>>;
type RestCalls = Pick<GcwClient, "callbacks" | "stepsInProgress" | "deliver" | "workflow" | "workflows">;

/** Google gives so many callbacks in a page at most. */
const callbackPage = 100;
/** Of callbacks, or of steps, of one execution: pages may be short, or empty, and others follow all the same. */
const maxPages = 10;
/** Steps in a page. */
const stepPage = 100;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textsOf = (value: unknown): Readonly<Record<string, string>> =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string"))
    : {};
/** 64-bit numbers come as texts. */
const countOf = (value: unknown): number | undefined => {
  const count = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  return Number.isSafeInteger(count) && count > 0 ? count : undefined;
};

const toCallback = ({ name, method, waiters, availablePayloads }: Fields): Callback => ({
  // Google's documentation writes `/callback/` in names and `/callbacks/` in addresses.
  id: textOf(name).split("/").at(-1) ?? "",
  method: textOf(method).toUpperCase() || "POST",
  waiters: countOf(waiters) ?? 0,
  payloads: Array.isArray(availablePayloads) ? availablePayloads.map(String) : [],
});

const toStepEntry = ({ entryId, routine, step, stepType, stepEntryMetadata, variableData }: Fields): StepEntry => {
  const metadata = isObject(stepEntryMetadata) ? stepEntryMetadata : {};
  const variables = isObject(variableData) && isObject(variableData.variables) ? variableData.variables : {};
  return {
    id: textOf(entryId) || `${textOf(routine)}.${textOf(step)}`,
    routine: textOf(routine),
    step: textOf(step),
    type: textOf(stepType),
    ...given("iteration", countOf(metadata.progressNumber)),
    ...given("iterations", countOf(metadata.expectedIteration)),
    variables,
  };
};

const toWorkflow = ({ name, state, description, labels, sourceContents }: Fields): Workflow => ({
  name: textOf(name),
  state: textOf(state),
  description: textOf(description),
  labels: textsOf(labels),
  source: textOf(sourceContents),
});

/** What Google's client for Node lacks: callbacks, steps, and the workflows themselves. `endpoint`: in place of Google's addresses. */
export const restCalls = (endpoint: URL | undefined, call: RestCall): RestCalls => {
  let domain = "googleapis.com";
  const own = endpoint?.origin;
  const executionsApi = (): string => own ?? `https://workflowexecutions.${domain}`;
  const workflowsApi = (): string =>
    own?.replace("://workflowexecutions", "://workflows") ?? `https://workflows.${domain}`;

  const read = (
    action: string,
    base: () => string,
    path: string,
    query: Readonly<Record<string, string | undefined>>,
    signal: AbortSignal,
    about?: string,
  ): Promise<Fields> => {
    const ask = async (send: AuthorizedFetch, universeDomain: string): Promise<Fields> => {
      domain = universeDomain;
      const url = new URL(`${base()}/v1/${path}`);
      for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
      const response = await send(url.href, { signal, redirect: "error", responseType: "stream" });
      const body: unknown = await response.json();
      if (isObject(body)) return body;
      throw new BridgeError("bad_response", `workflows.${action}: no JSON object came`);
    };
    return call(action, "unavailable", signal, ask, about);
  };

  /** All rows; undefined where a page that follows is not read any more. */
  const readAll = async (
    action: string,
    path: string,
    member: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly Fields[] | undefined> => {
    const rows: Fields[] = [];
    let token: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const body = await read(action, executionsApi, path, { ...query, pageToken: token }, signal);
      rows.push(...listOf(body[member]));
      token = textOf(body.nextPageToken) || undefined;
      if (token === undefined) return rows;
    }
    return undefined;
  };

  return {
    callbacks: async (name, signal) => {
      const query = { pageSize: String(callbackPage) };
      const rows = await readAll("callbacks.list", `${name}/callbacks`, "callbacks", query, signal);
      if (rows === undefined)
        throw new BridgeError("unavailable", `workflows.callbacks.list: there are more than ${maxPages} pages`);
      return rows.map(toCallback).filter(({ id }) => /[^.]/.test(id));
    },
    stepsInProgress: async (name, signal) => {
      const query = { filter: 'state="STATE_IN_PROGRESS"', pageSize: String(stepPage) };
      const rows = await readAll("stepEntries.list", `${name}/stepEntries`, "stepEntries", query, signal);
      return rows?.filter(({ state }) => state === undefined || state === "STATE_IN_PROGRESS").map(toStepEntry);
    },
    deliver: (name, callbackId, { method, body }, signal) =>
      call("callbacks.send", "outcome_unknown", signal, async (send, universeDomain) => {
        domain = universeDomain;
        // Credentials go to this API alone, whatever names a callback.
        const url = `${executionsApi()}/v1/${name}/callbacks/${encodeURIComponent(callbackId)}`;
        const content = body === undefined ? {} : { body, headers: { "content-type": "application/json" } };
        const response = await send(url, { method, ...content, signal, redirect: "error", responseType: "stream" });
        await response.text();
      }),
    workflow: async (name, signal) =>
      toWorkflow(await read("workflows.get", workflowsApi, name, {}, signal, `workflow ${name}`)),
    workflows: async (parent, { size, token }, signal): Promise<Page<Workflow>> => {
      const query = { pageSize: String(size), pageToken: token };
      const body = await read("workflows.list", workflowsApi, `${parent}/workflows`, query, signal, parent);
      const next = textOf(body.nextPageToken);
      return { rows: listOf(body.workflows).map(toWorkflow), ...given("next", next || undefined) };
    },
  };
};
