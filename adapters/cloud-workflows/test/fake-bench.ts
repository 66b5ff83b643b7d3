import type { ContractTarget } from "@taskbridge/testkit/adapter";
import { cloudWorkflows } from "../src/cloud-workflows.ts";
import type { CloudWorkflowsOptions } from "../src/settings/parse-options.ts";
import { type Fake, type FakeOptions, startFake } from "./fake/fake.ts";
import { awaitCallback, runsOn, type Script, step } from "./fake/script.ts";

export const largeText: string = "x".repeat(200_000);

/** What the contract suite wants to be run. */
const scripts: Readonly<Record<ContractTarget, Script>> = {
  succeeds: { steps: [step("count", 5)], end: { succeed: { files: 14 } } },
  fails: { steps: [step("count", 5, { raise: { code: 409, message: "none left" } })] },
  progresses: { steps: [step("first", 100), step("second", 400)] },
  asks: { steps: [awaitCallback("approve")] },
  "runs-until-cancelled": runsOn,
  "large-output": { steps: [step("write", 5)], end: { succeed: largeText } },
};

export interface FakeBench {
  readonly fake: Fake;
  readonly target: (kind: ContractTarget) => { readonly workflow: string };
  readonly adapter: ReturnType<typeof cloudWorkflows>;
}

/** A fake with the workflows of the contract suite, and an adapter that calls it. */
export const fakeBench = async (
  options: FakeOptions = {},
  given: Partial<CloudWorkflowsOptions> = {},
): Promise<FakeBench> => {
  const fake = await startFake(options);
  for (const [id, script] of Object.entries(scripts)) fake.workflow(id, script);
  const { project, location, endpoint } = fake;
  return {
    fake,
    target: (kind) => ({ workflow: kind }),
    adapter: cloudWorkflows({ project, location, endpoint, ...given }),
  };
};
