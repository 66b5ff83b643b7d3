import "./aws-environment.ts";
import type { ContractTarget } from "@taskbridge/testkit/adapter";
import { type StepFunctionsOptions, stepFunctions } from "../src/index.ts";
import { type Facade, type FacadeOptions, startFacade } from "./facade/facade.ts";
import { ask, runsOn, type Script, state } from "./facade/script.ts";

export const largeText: string = "x".repeat(200_000);

/** What the contract suite wants to be run. */
const scripts: Readonly<Record<ContractTarget, Script>> = {
  succeeds: { steps: [state("Count", 5)], end: { succeed: { files: 14 } } },
  fails: { steps: [state("Count", 5)], end: { fail: { error: "NoStock", cause: "none left" } } },
  progresses: { steps: [state("First", 100), state("Second", 400)] },
  asks: { steps: [ask("Approve", {}, { heartbeatMs: 60_000 })] },
  "runs-until-cancelled": runsOn,
  "large-output": { steps: [state("Write", 5)], end: { succeed: largeText } },
};

export interface FacadeBench {
  readonly facade: Facade;
  readonly target: (kind: ContractTarget) => { readonly stateMachine: string };
  readonly adapter: ReturnType<typeof stepFunctions>;
}

/** A façade with the machines of the contract suite, and an adapter that calls it. */
export const facadeBench = async (
  options: FacadeOptions = {},
  given: StepFunctionsOptions = {},
): Promise<FacadeBench> => {
  const facade = await startFacade(options);
  for (const [name, script] of Object.entries(scripts)) facade.machine(name, script);
  return {
    facade,
    target: (kind) => ({ stateMachine: kind }),
    adapter: stepFunctions({ region: facade.region, endpoint: facade.endpoint, ...given }),
  };
};

/** How many executions a façade has really started. */
export const countStarted = (facade: Facade): number =>
  Object.keys(scripts).reduce(
    (sum, name) => sum + facade.executions(`arn:aws:states:${facade.region}:123456789012:stateMachine:${name}`).length,
    0,
  );
