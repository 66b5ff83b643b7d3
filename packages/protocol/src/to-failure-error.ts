import type { TaskRecord } from "@taskbridge/core";

/** A call that could not be carried out as such, as a JSON-RPC error. */
export interface FailureError {
  readonly code: -32603;
  readonly message: string;
  /** Why, in one word: `max_run`, `lost`, … */
  readonly data: { readonly reason: string };
}

export const toFailureError = ({ failure }: TaskRecord): FailureError => ({
  code: -32_603,
  message: failure?.reason ?? "The task has failed.",
  data: { reason: failure?.code ?? "failed" },
});
