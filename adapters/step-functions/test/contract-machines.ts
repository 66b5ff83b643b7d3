import type { ContractTarget } from "@taskbridge/testkit/adapter";
import { asking } from "./moto-bench.ts";

const pass = (Result: unknown): object => ({ Type: "Pass", Result, End: true });
const wait = (Seconds: number, more: object): object => ({ Type: "Wait", Seconds, ...more });

/** What the contract suite wants to be run, in the language of state machines. */
export const contractMachines = (
  queueUrl: string,
  large: string,
): Readonly<Record<ContractTarget, Readonly<Record<string, object>>>> => ({
  succeeds: { Count: pass({ files: 14 }) },
  fails: { Count: { Type: "Fail", Error: "NoStock", Cause: "none left" } },
  progresses: { First: wait(1, { Next: "Second" }), Second: wait(1, { End: true }) },
  asks: { Approve: { ...asking(queueUrl, "asks"), HeartbeatSeconds: 60, End: true } },
  "runs-until-cancelled": { Forever: wait(600, { End: true }) },
  "large-output": { Write: pass(large) },
});
