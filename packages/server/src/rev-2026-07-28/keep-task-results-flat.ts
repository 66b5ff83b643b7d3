import type { Result, Server, ServerContext } from "@modelcontextprotocol/server";

type Handler = (request: never, context: ServerContext) => Promise<Result>;

interface WrapsHandlers {
  _wrapHandler(method: string, handler: Handler): Handler;
}

/**
 * Lets `tools/call` answer with a task. The SDK (server 2.4) puts `content: []` into every answer of a call, which makes
 * a task look like an empty success; everything else that it does around the handler stays in force. To be called before
 * the handler is registered.
 */
export const keepTaskResultsFlat = (server: Server): void => {
  const wrapping = server as unknown as WrapsHandlers;
  const sdkWrap = wrapping._wrapHandler.bind(server);
  wrapping._wrapHandler = (method, handler) => {
    if (method !== "tools/call") return sdkWrap(method, handler);
    return async (request, context) => {
      let task: Result | undefined;
      const withoutTask: Handler = async (...call) => {
        const result = await handler(...call);
        if (result.resultType !== "task") return result;
        task = result;
        return { content: [] };
      };
      const result = await sdkWrap(method, withoutTask)(request, context);
      return task ?? result;
    };
  };
};
