import type {
  ExecutionRef,
  ExecutionSnapshot,
  InspectItem,
  InspectOutcome,
  WorkflowAdapter,
} from "@taskbridge/core/adapter";
import { cloudWorkflows } from "../src/cloud-workflows.ts";
import type { CloudWorkflowsOptions } from "../src/settings/parse-options.ts";
import type { CloudWorkflowsTarget } from "../src/settings/parse-target.ts";
import { callContext, newKey } from "./call-context.ts";
import { type ManualClock, manualClock } from "./fake/clock.ts";
import { type Fake, type FakeOptions, startFake } from "./fake/fake.ts";

/** The adapter with Google's own client, on the fake, whose clock the test moves. */
export interface AdapterOnFake {
  readonly fake: Fake;
  readonly clock: ManualClock;
  readonly adapter: WorkflowAdapter<CloudWorkflowsTarget>;
  start(workflow: string, input?: string): Promise<ExecutionRef>;
  inspect(ref: ExecutionRef, want?: InspectItem["want"]): Promise<InspectOutcome>;
  /** Fails for what is no snapshot. */
  see(ref: ExecutionRef, want?: InspectItem["want"]): Promise<ExecutionSnapshot>;
  close(): Promise<void>;
}

export const openAdapter = async (
  options: Partial<CloudWorkflowsOptions> = {},
  fakeOptions: Omit<FakeOptions, "clock"> = {},
): Promise<AdapterOnFake> => {
  const clock = manualClock();
  const fake = await startFake({ ...fakeOptions, clock });
  const { project, location, endpoint } = fake;
  const adapter = cloudWorkflows({ project, location, endpoint, ...options });
  const inspection: AdapterOnFake["inspect"] = async (ref, want = "status") => {
    const [outcome] = (await adapter.inspect?.([{ ref, want }], callContext())) ?? [];
    if (outcome === undefined) throw new Error("there is no outcome");
    return outcome;
  };
  return {
    fake,
    clock,
    adapter,
    inspect: inspection,
    start: async (workflow, input = "{}") => {
      const target = adapter.parseTarget({ workflow });
      return (await adapter.start({ key: newKey(), target, input, attempt: 1 }, callContext())).ref;
    },
    see: async (ref, want) => {
      const outcome = await inspection(ref, want);
      if ("snapshot" in outcome) return outcome.snapshot;
      throw new Error(`no snapshot: ${JSON.stringify(outcome)}`);
    },
    close: async () => {
      await adapter.close?.();
      await fake.close();
    },
  };
};
