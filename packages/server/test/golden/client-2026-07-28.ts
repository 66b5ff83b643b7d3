import { type Message, post, type RequestOptions, toRequest } from "../rpc-client.ts";
import type { Conversation, Reply } from "./conversation.ts";

/** A client of the revision 2026-07-28. */
export interface Client20260728 {
  /** The whole answer to a request, the message with the result or error last. */
  request(method: string, params?: Params, options?: Options): Promise<Message>;
  /** A request whose answer is read message by message. */
  open(method: string, params?: Params, options?: Options): Promise<Reply>;
}

type Params = Record<string, unknown>;
type Options = Omit<RequestOptions, "id" | "body" | "signal">;

/** `always`: what each request declares. */
export const client20260728 =
  (always: Options) =>
  (conversation: Conversation, url: string): Client20260728 => {
    let count = 0;
    const open: Client20260728["open"] = (method, params = {}, options = {}) => {
      const said = { ...always, ...options, id: ++count };
      const body = JSON.stringify(toRequest(method, params, said));
      const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name, value ?? null] as const);
      return conversation.exchange(
        { ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }), text: body },
        (signal) => post(url, method, params, { ...said, body, signal }),
      );
    };
    return {
      open,
      request: async (method, params, options) => {
        const messages = await (await open(method, params, options)).rest();
        const answer = messages.at(-1);
        if (answer === undefined) throw new Error(`${method} was not answered`);
        return answer;
      },
    };
  };

/** The ID of the task that a call of `name` has become. */
export const callForTask = async (
  { request }: Pick<Client20260728, "request">,
  name = "job",
  args: Params = {},
): Promise<string> => {
  const { result } = await request("tools/call", { name, arguments: args });
  if (typeof result?.taskId !== "string") throw new Error(`no task: ${JSON.stringify(result)}`);
  return result.taskId;
};
