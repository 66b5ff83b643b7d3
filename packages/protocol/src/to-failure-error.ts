import type { TaskRecord } from "@taskbridge/core";
import { internalErrorCode } from "./rpc-codes.ts";

/** A call that could not be carried out as such, as a JSON-RPC error. */
export interface FailureError {
  readonly code: typeof internalErrorCode;
  readonly message: string;
  /** Why, in one word: `max_run`, `lost`, … */
  readonly data: { readonly reason: string };
}

export const toFailureError = ({ failure }: TaskRecord): FailureError => ({
  code: internalErrorCode,
  message: failure?.reason ?? "The task has failed.",
  data: { reason: failure?.code ?? "failed" },
});
