import { BridgeError, toBridgeError } from "@taskbridge/core/adapter";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";
import { isSaying } from "./find-started.ts";

/** AWS says of a version or an alias that is not there that the state machine is not. */
export const toMissing = (error: unknown, { version, alias }: StepFunctionsTarget): BridgeError => {
  const known = toBridgeError(error);
  const wanted = version === undefined ? `alias ${alias}` : `version ${version}`;
  if ((version ?? alias) === undefined || !isSaying(known, "StateMachineDoesNotExist")) return known;
  const message = `the state machine has no ${wanted}, or is not there itself: ${known.data?.action}`;
  return new BridgeError(known.code, message, { notSent: known.notSent, data: known.data ?? {}, cause: known });
};
