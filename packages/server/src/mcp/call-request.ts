import type { ResolvedTool } from "@taskbridge/core";
import type { CallQuestions } from "./call-questions.ts";
import type { Prepared } from "./prepared.ts";

/** One call of a pipeline, whichever SDK took it in. */
export interface CallRequest {
  /** Fires when the call is taken back or its connection is lost; also, by the SDKs' doing, after the answer. */
  readonly signal: AbortSignal;
  /** Whether the call is taken back by what the signal gives as its reason, so that its execution has to stop. */
  isWithdrawn(reason: unknown): boolean;
  readonly progressToken: string | number | undefined;
  /** Tells the caller something on the stream of this request. */
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>;
  /** As `CreateTask.origin`. */
  readonly origin?: string;
  /** Asks the tool's own questions before anything starts. */
  prepare(tool: ResolvedTool, args: unknown): Promise<Prepared>;
  /** How the questions of a task reach the caller's user while the call waits for it. */
  readonly questions: CallQuestions;
}
