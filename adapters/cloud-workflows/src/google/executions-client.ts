import { setMaxListeners } from "node:events";
import type { ExecutionsClient, protos } from "@google-cloud/workflows";
import { BridgeError } from "@taskbridge/core/adapter";
import type { Execution, Frame, GcwClient, ListCall, Page } from "./client.ts";
import { guardRequests } from "./guard-requests.ts";
import { restCalls } from "./rest-calls.ts";
import { toCredentialsError } from "./to-credentials-error.ts";
import { type CallPlace, toError } from "./to-error.ts";
import { withSignal } from "./with-signal.ts";
import { withoutLookupWarning } from "./without-lookup-warning.ts";

/** Google's own client, for those who bring one. */
export type { ExecutionsClient };

type Auth = ExecutionsClient["auth"];
type Fetch = Auth["fetch"];
type Told = protos.google.cloud.workflows.executions.v1.IExecution;
type Time = { readonly seconds?: unknown; readonly nanos?: unknown } | null | undefined;

export interface ConnectionOptions {
  readonly project: string;
  readonly endpoint: URL | undefined;
  readonly keyFile: string | undefined;
  readonly credentials: { readonly client_email: string; readonly private_key: string } | undefined;
  readonly client: ExecutionsClient | undefined;
}

/** A request is given up after this long (milliseconds): over REST, Google's client sets no limit of its own. */
const requestTimeoutMs = 20_000;

/**
 * For local engines: no credentials of anybody's, but a bearer token for those that ask for one. What is refused is thrown, as Google's
 * own authentication does.
 */
const localAuth = (): Auth => {
  const headers = (): Headers => new Headers({ authorization: "Bearer local" });
  const send: typeof fetch = async (url, init) => {
    const sent = new Headers(init?.headers);
    for (const [name, value] of headers()) sent.set(name, value);
    const limits = [AbortSignal.timeout(requestTimeoutMs), init?.signal].filter(
      (signal) => signal instanceof AbortSignal,
    );
    const response = await fetch(url, { ...init, headers: sent, signal: AbortSignal.any(limits) });
    if (response.ok) return response;
    const { status, headers: told } = response;
    throw Object.assign(new Error(await response.text()), { status, response: { headers: told } });
  };
  const client = { getRequestHeaders: async () => headers(), fetch: send };
  // Google's type is a class with private members.
  return {
    ...client,
    getClient: async () => client,
    getUniverseDomain: async () => "googleapis.com",
  } as unknown as Auth;
};

const load = async (): Promise<typeof import("@google-cloud/workflows")> => {
  try {
    return await import("@google-cloud/workflows");
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" || !String(message).includes("@google-cloud/workflows")) throw error;
    throw new BridgeError(
      "misconfigured",
      "the package @google-cloud/workflows is not installed: npm install @google-cloud/workflows",
      { notSent: true, data: { path: "" }, cause: error },
    );
  }
};

/**
 * Over REST, since callbacks and steps are there only, by the same authentication. No method of this client is retried by it (its list of
 * codes is empty for all of them), and requests are not either: the engine knows what a repeat means.
 */
const connect = async ({ project, endpoint, keyFile, credentials }: ConnectionOptions): Promise<ExecutionsClient> => {
  const { ExecutionsClient } = await load();
  const isLocal = endpoint?.protocol === "http:";
  return new ExecutionsClient({
    fallback: true,
    minifyJson: true,
    // Else it is looked for, for seconds, where credentials do not name one.
    projectId: project,
    ...(endpoint === undefined
      ? {}
      : { apiEndpoint: endpoint.hostname, port: Number(endpoint.port) || (isLocal ? 80 : 443) }),
    ...(isLocal ? { protocol: "http", auth: localAuth() } : {}),
    ...(keyFile === undefined ? {} : { keyFilename: keyFile }),
    ...(credentials === undefined ? {} : { credentials }),
    clientOptions: { transporterOptions: { timeout: requestTimeoutMs } },
  });
};

const unsent = ({ action }: CallPlace): BridgeError =>
  new BridgeError("unavailable", `${action} was given up before it was sent`, { notSent: true });

const atOf = (time: Time): number | undefined =>
  time === null || time === undefined
    ? undefined
    : Number(time.seconds ?? 0) * 1_000 + Math.floor(Number(time.nanos ?? 0) / 1e6);

const given = <Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: Value });

const textOf = (value: string | null | undefined): string | undefined => value || undefined;

const toFrame = ({
  routine,
  step,
  position,
}: protos.google.cloud.workflows.executions.v1.Execution.IStackTraceElement): Frame => {
  const line = Number(position?.line ?? 0);
  return { routine: routine ?? "", step: step ?? "", ...(line > 0 ? { line } : {}) };
};

const toExecution = (told: Told): Execution => ({
  name: told.name ?? "",
  state: String(told.state ?? ""),
  ...given("startedAt", atOf(told.startTime)),
  ...given("endedAt", atOf(told.endTime)),
  ...given("argument", textOf(told.argument)),
  ...given("result", textOf(told.result)),
  ...given(
    "error",
    told.error
      ? {
          payload: told.error.payload ?? "",
          context: told.error.context ?? "",
          stack: (told.error.stackTrace?.elements ?? []).map(toFrame),
        }
      : undefined,
  ),
  steps: (told.status?.currentSteps ?? []).map(({ routine, step }) => ({ routine: routine ?? "", step: step ?? "" })),
  labels: told.labels ?? {},
  ...given(
    "stateError",
    told.stateError ? (textOf(told.stateError.details) ?? String(told.stateError.type)) : undefined,
  ),
});

const paging = ({ size, token, filter, view }: ListCall) => ({
  pageSize: size,
  view,
  ...given("pageToken", token),
  ...given("filter", filter),
});

/** The port on Google's client, which is loaded and made at the first call. `client`: used as it is, and not closed. */
export const executionsClient = (options: ConnectionOptions): GcwClient => {
  let opening: Promise<ExecutionsClient> | undefined;
  let giveUpAll = (): void => {};

  const open = async (): Promise<ExecutionsClient> => {
    const client = options.client ?? (await connect(options));
    if (options.client === undefined) giveUpAll = guardRequests(client.auth);
    // First, since a client keeps the failure of its own attempt, and throws it where nobody can catch it.
    await withoutLookupWarning(async () => {
      // One that was made with `authClient` has that in its place.
      if (typeof client.auth.getClient === "function") await client.auth.getClient();
    });
    await client.initialize();
    return client;
  };

  /** A client that is known to have credentials, so that what fails next is the call itself. */
  const ready = async (place: CallPlace): Promise<ExecutionsClient> => {
    opening ??= open();
    const attempt = opening;
    try {
      const client = await attempt;
      await client.auth.getRequestHeaders();
      return client;
    } catch (error) {
      forget(attempt);
      throw error instanceof BridgeError ? error : toCredentialsError(error, place, options);
    }
  };

  /** The next call makes another one: credentials are read and exchanged anew. */
  const forget = (attempt: Promise<ExecutionsClient> | undefined): void => {
    if (opening === attempt) opening = undefined;
  };

  const guarded = async <Value>(
    place: CallPlace,
    signal: AbortSignal,
    work: (client: ExecutionsClient) => Promise<Value>,
  ): Promise<Value> => {
    let attempt: typeof opening;
    let isSent = false;
    try {
      // One look makes hundreds of calls at once by one signal.
      setMaxListeners(0, signal);
      // Google's client takes no signal.
      return await withSignal(signal, async () => {
        const client = await ready(place);
        attempt = opening;
        if (signal.aborted) throw unsent(place);
        isSent = true;
        return await work(client);
      });
    } catch (error) {
      if (!isSent) throw error instanceof BridgeError ? error : unsent(place);
      const known = toError(error, place);
      if (known.data?.googleStatus === "UNAUTHENTICATED") forget(attempt);
      throw known;
    }
  };

  const call = <Value>(
    action: string,
    ifSent: CallPlace["ifSent"],
    signal: AbortSignal,
    work: (client: ExecutionsClient) => Promise<Value>,
    about?: string,
  ): Promise<Value> => guarded({ action: `workflows.${action}`, ifSent, ...given("about", about) }, signal, work);

  const rest = restCalls(options.endpoint, (action, ifSent, signal, work, about) => {
    const sent = (client: ExecutionsClient): ReturnType<typeof work> => {
      const send: Fetch = (...request) => client.auth.fetch(...request);
      return work(send, client.universeDomain);
    };
    return call(action, ifSent, signal, sent, about);
  });

  return {
    ...rest,
    create: (workflow, { argument, labels }, signal) => {
      const create = async (client: ExecutionsClient): Promise<Execution> => {
        const execution = { argument, labels: { ...labels } };
        // Sent twice, it would start two, whatever codes a later client may think worth a retry.
        const [made] = await client.createExecution({ parent: workflow, execution }, { retry: null });
        return toExecution(made);
      };
      return call("executions.create", "outcome_unknown", signal, create, `workflow ${workflow}`);
    },
    get: (name, signal) =>
      call("executions.get", "unavailable", signal, async (client) => {
        const [found] = await client.getExecution({ name, view: "FULL" });
        return toExecution(found);
      }),
    list: (workflow, page, signal) =>
      call("executions.list", "unavailable", signal, async (client): Promise<Page<Execution>> => {
        const request = { parent: workflow, ...paging(page) };
        const [rows, , raw] = await client.listExecutions(request, { autoPaginate: false });
        return { rows: rows.map(toExecution), ...given("next", textOf(raw?.nextPageToken)) };
      }),
    cancel: (name, signal) =>
      call("executions.cancel", "outcome_unknown", signal, async (client) => {
        await client.cancelExecution({ name });
      }),
    close: () => {
      if (options.client !== undefined) return;
      giveUpAll();
      opening?.then(
        (client) => client.close(),
        () => {},
      );
    },
  };
};
