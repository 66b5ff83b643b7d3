import type { Execution, GcwClient, ListCall, Page } from "./client.ts";
import type { ConnectionOptions } from "./connect.ts";
import { connection } from "./connection.ts";
import { given } from "./given.ts";
import { restCalls } from "./rest-calls.ts";
import type { ExecutionsClient } from "./sdk.ts";
import type { CallDetails } from "./to-error.ts";
import { toExecution } from "./to-execution.ts";

/** Google's own client, for those who bring one. */
export type { ExecutionsClient };

type Fetch = ExecutionsClient["auth"]["fetch"];

const paging = ({ size, token, filter, view }: ListCall) => ({
  pageSize: size,
  view,
  ...given("pageToken", token),
  ...given("filter", filter),
});

/** The port on Google's client, which is loaded and made at the first call. `client`: used as it is, and not closed. */
export const executionsClient = (options: ConnectionOptions): GcwClient => {
  const { run, close } = connection(options);

  const call = <Value>(
    action: string,
    ifSent: CallDetails["ifSent"],
    signal: AbortSignal,
    work: (client: ExecutionsClient) => Promise<Value>,
    about?: string,
  ): Promise<Value> => run({ action: `workflows.${action}`, ifSent, ...given("about", about) }, signal, work);

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
        return { rows: rows.map(toExecution), ...given("next", raw?.nextPageToken || undefined) };
      }),
    cancel: (name, signal) =>
      call("executions.cancel", "outcome_unknown", signal, async (client) => {
        await client.cancelExecution({ name });
      }),
    close,
  };
};
