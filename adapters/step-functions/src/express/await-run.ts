import { type BridgeError, type ExecutionSnapshot, type InspectOutcome, toBridgeError } from "@taskbridge/core/adapter";
import type { ExecutionDetails, SfnClient, StartCall } from "../aws/client.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";

/** All that will be known of an execution. */
export interface RunEnd {
  readonly outcome: InspectOutcome;
  readonly output?: string | undefined;
  /** Why its end is not known. With `notSent`: AWS did not start it. */
  readonly failure?: BridgeError;
}

/** A refusal that comes when its start was taken for accepted: the engine does not start it again. */
const toRefused = ({ message, data }: BridgeError, startedAt: number): ExecutionSnapshot => ({
  status: "failed",
  startedAt,
  failure: {
    kind: "protocol",
    reason: `AWS did not start it: ${message}`,
    ...(typeof data?.awsError === "string" ? { code: data.awsError } : {}),
  },
});

const toEnd = (details: ExecutionDetails): InspectOutcome => {
  const snapshot = toSnapshot(details);
  if (snapshot === undefined)
    return { notFound: { proven: true, reason: `AWS tells a status that is not known here: ${details.status}` } };
  const { url: _noPage, ...known } = snapshot;
  const startedAt = Math.min(details.startedAt, details.endedAt ?? details.startedAt);
  return { snapshot: { ...known, startedAt } };
};

/** Starts an Express execution and awaits its end, which AWS tells to nobody else. Never rejects. `startedAt`: epoch milliseconds. */
export const awaitRun = async (
  client: SfnClient,
  call: StartCall,
  startedAt: number,
  closing: AbortSignal,
): Promise<RunEnd> => {
  try {
    const details = await client.startSync(call, closing);
    return { outcome: toEnd(details), output: details.output };
  } catch (error) {
    const failure = toBridgeError(error);
    const outcome: InspectOutcome = failure.notSent
      ? { snapshot: toRefused(failure, startedAt) }
      : { notFound: { proven: true, reason: `its end was not heard: ${failure.message}` } };
    return { outcome, failure };
  }
};
