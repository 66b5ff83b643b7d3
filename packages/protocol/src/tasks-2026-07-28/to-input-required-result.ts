import type { InputRequests } from "./to-input-requests.ts";

/** The answer of a call that asks: the call comes again with what was answered, and with its state. */
export interface InputRequiredResult {
  readonly resultType: "input_required";
  readonly inputRequests: InputRequests["requests"];
  readonly requestState: string;
}

/** https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr */
export const toInputRequiredResult = (
  { requests }: Pick<InputRequests, "requests">,
  requestState: string,
): InputRequiredResult => ({ resultType: "input_required", inputRequests: requests, requestState });
