import type { ExecutionSnapshot } from "@taskbridge/core/adapter";
import type { KeptEnd } from "../redis/client.ts";
import { toOutput } from "./to-output.ts";
import { toFailure } from "./to-snapshot.ts";

/** The end of a job that the event stream tells. Undefined for a removal, which tells none. */
export const endToSnapshot = ({ eventId, event, text }: KeptEnd): ExecutionSnapshot | undefined => {
  const endedAt = Number.parseInt(eventId, 10);
  if (event === "failed") return { status: "failed", failure: toFailure(text, undefined), questions: [], endedAt };
  if (event !== "completed") return undefined;
  const output = toOutput(text);
  return { status: "succeeded", questions: [], endedAt, ...(output === undefined ? {} : { output }) };
};
