import { BridgeError } from "@taskbridge/core/adapter";
import { isObject } from "../is-object.ts";
import { type Callback, type GcwClient, mostSteps, type Page, type StepEntry, type Workflow } from "./client.ts";
import type { CallPlace } from "./to-error.ts";

/** Sends with the server's credentials, and throws what is refused. */
export type AuthorizedFetch = (
  url: string,
  init: RequestInit & { readonly responseType: "stream" },
) => Promise<Response>;

/** Runs calls with what a client has for them: its authentication, and Google's domain (`googleapis.com`). */
export type RestCall = <Value>(
  action: string,
  ifSent: CallPlace["ifSent"],
  signal: AbortSignal,
  work: (send: AuthorizedFetch, universeDomain: string) => Promise<Value>,
) => Promise<Value>;

type Fields = Readonly<Record<string, unknown>>;
type RestCalls = Pick<GcwClient, "callbacks" | "stepsInProgress" | "deliver" | "workflow" | "workflows">;

/** Google gives so many callbacks in a page at most. */
const callbackPage = 100;
/** Of callbacks of one execution: further ones are not looked for. */
const mostPages = 10;

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
const count = <Name extends string>(name: Name, value: unknown): { [Key in Name]?: number } => {
  const known = countOf(value);
  return known === undefined ? {} : ({ [name]: known } as { [Key in Name]?: number });
};

const toCallback = ({ name, method, waiters, availablePayloads }: Fields): Callback => ({
  // Google's documentation writes `/callback/` in names and `/callbacks/` in addresses.
  id: textOf(name).split("/").at(-1) ?? "",
  method: textOf(method).toUpperCase() || "POST",
  waiters: countOf(waiters) ?? 0,
  payloads: Array.isArray(availablePayloads) ? availablePayloads.map(String) : [],
});

const toStepEntry = ({ routine, step, stepType, stepEntryMetadata, variableData }: Fields): StepEntry => {
  const metadata = isObject(stepEntryMetadata) ? stepEntryMetadata : {};
  const variables = isObject(variableData) && isObject(variableData.variables) ? variableData.variables : {};
  return {
    routine: textOf(routine),
    step: textOf(step),
    type: textOf(stepType),
    ...count("iteration", metadata.progressNumber),
    ...count("iterations", metadata.expectedIteration),
    variables,
  };
};

const toWorkflow = ({ name, state, description, labels }: Fields): Workflow => ({
  name: textOf(name),
  state: textOf(state),
  description: textOf(description),
  labels: textsOf(labels),
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
  ): Promise<Fields> =>
    call(action, "unavailable", signal, async (send, universeDomain) => {
      domain = universeDomain;
      const url = new URL(`${base()}/v1/${path}`);
      for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
      const response = await send(url.href, { signal, redirect: "error", responseType: "stream" });
      const told: unknown = await response.json();
      if (isObject(told)) return told;
      throw new BridgeError("bad_response", `workflows.${action}: no JSON object came`);
    });

  return {
    callbacks: async (name, signal) => {
      const found: Callback[] = [];
      let token: string | undefined;
      for (let page = 0; page < mostPages; page++) {
        const query = { pageSize: String(callbackPage), pageToken: token };
        const told = await read("callbacks.list", executionsApi, `${name}/callbacks`, query, signal);
        found.push(...listOf(told.callbacks).map(toCallback));
        token = textOf(told.nextPageToken) || undefined;
        if (token === undefined) break;
      }
      return found.filter(({ id }) => /[^.]/.test(id));
    },
    stepsInProgress: async (name, signal) => {
      const query = { filter: 'state="STATE_IN_PROGRESS"', pageSize: String(mostSteps) };
      const told = await read("stepEntries.list", executionsApi, `${name}/stepEntries`, query, signal);
      return listOf(told.stepEntries)
        .filter(({ state }) => state === undefined || state === "STATE_IN_PROGRESS")
        .map(toStepEntry);
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
    workflow: async (name, signal) => toWorkflow(await read("workflows.get", workflowsApi, name, {}, signal)),
    workflows: async (parent, { size, token }, signal): Promise<Page<Workflow>> => {
      const query = { pageSize: String(size), pageToken: token };
      const told = await read("workflows.list", workflowsApi, `${parent}/workflows`, query, signal);
      const next = textOf(told.nextPageToken);
      return { rows: listOf(told.workflows).map(toWorkflow), ...(next === "" ? {} : { next }) };
    },
  };
};
