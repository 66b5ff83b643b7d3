import {
  type BridgeError,
  type ExecutionSnapshot,
  type InspectOutcome,
  type StartKey,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { ExecutionDetails, SfnClient, StartCall } from "../aws/client.ts";
import { toSnapshot } from "../mapping/to-snapshot.ts";

/** An execution that this process awaits. */
export interface Run {
  readonly key: StartKey;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  /** Resolves once no more will be known of it. */
  readonly ended: Promise<void>;
  readonly output: string | undefined;
  /** Why its end is not known. With `notSent`: AWS did not start it. */
  readonly failure: BridgeError | undefined;
  /** As it stands. */
  outcome(): InspectOutcome;
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
  const { url: _noPage, ...told } = snapshot;
  const startedAt = Math.min(details.startedAt, details.endedAt ?? details.startedAt);
  return { snapshot: { ...told, startedAt } };
};

/** Starts an Express execution and awaits its end, which AWS tells to nobody else. Never rejects. */
export const awaitRun = (
  client: SfnClient,
  call: StartCall,
  { key, startedAt }: Pick<Run, "key" | "startedAt">,
  closing: AbortSignal,
): Run => {
  let outcome: InspectOutcome = { snapshot: { status: "running", startedAt } };
  let output: string | undefined;
  let failure: BridgeError | undefined;
  const ended = client.startSync(call, closing).then(
    (details) => {
      output = details.output;
      outcome = toEnd(details);
    },
    (error: unknown) => {
      failure = toBridgeError(error);
      outcome = failure.notSent
        ? { snapshot: toRefused(failure, startedAt) }
        : { notFound: { proven: true, reason: `its end was not heard: ${failure.message}` } };
    },
  );
  return {
    key,
    startedAt,
    ended,
    get output() {
      return output;
    },
    get failure() {
      return failure;
    },
    outcome: () => outcome,
  };
};
