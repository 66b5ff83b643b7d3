import { join } from "node:path";
import type { BalancerTarget } from "@taskbridge/services/balancer";
import { compiledProgram } from "./compiled-program.ts";
import { type FindPackage, folderOfPackage } from "./link-packages.ts";
import { nextLedger } from "./next-ledger.ts";
import { openProcessSlot, type ProcessSlot } from "./process-slot.ts";

export interface ReplicaOptions {
  /** Of the run. */
  readonly folder: string;
  readonly name: string;
  readonly target: BalancerTarget;
  /** Its configuration file. */
  readonly config: string;
  /** How wrong its clock is (milliseconds). */
  readonly skewMs: number;
  /** Which build it is of. Default: this one. */
  readonly find?: FindPackage;
}

/** `taskbridge serve`, as users have it. */
export const openReplica = ({
  folder,
  name,
  target,
  config,
  skewMs,
  find = folderOfPackage,
}: ReplicaOptions): ProcessSlot =>
  openProcessSlot({
    name,
    script: join(find("taskbridge"), "dist/main.js"),
    args: ["serve", "--config", config, "--port", String(target.port)],
    execArgv: ["--import", compiledProgram("keep-to-parent.js")],
    env: { TASKBRIDGE_CHAOS_SKEW_MS: String(skewMs), TASKBRIDGE_CHAOS_NEXT: nextLedger(folder) },
    logFile: join(folder, `${name}.log`),
    isReady: async () => {
      try {
        const answer = await fetch(`http://${target.host}:${target.port}/readyz`, {
          signal: AbortSignal.timeout(1_000),
        });
        await answer.arrayBuffer();
        return answer.ok;
      } catch {
        // It does not listen yet, or is gone.
        return false;
      }
    },
  });
