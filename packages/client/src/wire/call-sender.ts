import { TaskClientError } from "../client-error.ts";
import type { Connection } from "../connection.ts";
import type { Members } from "../is-object.ts";
import { toToolResult } from "../to-tool-result.ts";
import type { ToolResult } from "../tool-result.ts";
import type { CallRequest } from "../wire.ts";
import { taskKey } from "./related-task.ts";
import { callParams } from "./send-call.ts";

/** A call with the ID that its task is to have. */
export type Sep1686Call = CallRequest & { readonly taskId: string };

/** Sends one call of the draft, however often it has to be sent. */
export interface CallSender {
  send(): Promise<ToolResult>;
  /** The first answer of however many sends. */
  anyAnswer(): Promise<ToolResult>;
  /** Gives up what may not have reached the server yet. */
  giveUp(): void;
  /** What the last send can be cancelled by. */
  last(): { readonly session: object; readonly requestId: string };
}

export const callSender = (connection: Connection, call: Sep1686Call): CallSender => {
  const answers: Promise<ToolResult>[] = [];
  const over = new AbortController();
  let last = { session: connection.session(), requestId: "" };
  return {
    send: () => {
      const onSend = (requestId: string): void => {
        // Read here, because a lost session may just have been replaced.
        last = { session: connection.session(), requestId };
      };
      const answer = connection.once("tools/call", toParams(call), { onSend, signal: over.signal }).then(toToolResult);
      answers.push(answer);
      return answer;
    },
    anyAnswer: () => {
      const answer = Promise.any(answers);
      // Who follows the task does not need it.
      answer.catch(() => {});
      return answer;
    },
    giveUp: () => over.abort(new TaskClientError("cancelled", "the call was cancelled")),
    last: () => last,
  };
};

const toParams = ({ taskId, tool, args, meta, keepAliveMs }: Sep1686Call): Members =>
  callParams(tool, args, {
    ...meta,
    [taskKey]: { taskId, ...(keepAliveMs === undefined ? {} : { keepAlive: keepAliveMs }) },
  });
