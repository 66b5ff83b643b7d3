import { asExecutionRef, BridgeError } from "@taskbridge/core/adapter";
import {
  type AdapterUnderTest,
  type ContractTarget,
  type FakeAdapterOptions,
  type FakeExecution,
  type FakeVerb,
  fakeAdapter,
} from "../src/adapter.ts";

const later = (action: () => void): void => {
  setTimeout(action, 10);
};

const large = JSON.stringify(Array.from({ length: 200 }, (_, index) => `line ${index} – ünïcode`));

const scripts: Record<ContractTarget, (execution: FakeExecution) => void> = {
  succeeds: (execution) => later(() => execution.succeed({ ran: execution.input })),
  fails: (execution) => later(() => execution.fail("exit code 2: no such file")),
  progresses: (execution) => {
    execution.progress({ done: 1, total: 2, message: "halfway" });
    setTimeout(() => execution.succeed(), 100);
  },
  asks: (execution) => {
    execution.ask({ name: "approve", message: "Go on?" });
  },
  "runs-until-cancelled": (execution) => later(() => execution.run()),
  "large-output": (execution) => later(() => execution.succeedWithStream(large, { mediaType: "application/json" })),
};

const stalled: readonly FakeVerb[] = ["start", "inspect", "cancel", "find"];

/** A fake adapter whose backend runs every kind of target that the suite knows. */
export const openFake = (options: FakeAdapterOptions = {}): AdapterUnderTest => {
  const onAnswer: Required<FakeAdapterOptions>["onAnswer"] = (execution, { action }) => {
    if (action === "accept") execution.succeed();
    else execution.fail(`answered with ${action}`);
  };
  const { adapter, backend } = fakeAdapter({ scripts, onAnswer, ...options });
  return {
    adapter,
    target: (kind) => ({ run: kind }),
    unknownRef: asExecutionRef('{"run":"run-9999"}'),
    expected: (kind) => (kind === "succeeds" ? { ran: '{"n":1}' } : JSON.parse(large)),
    journal: async () => backend.starts(),
    stall: async () => {
      for (const verb of stalled) backend.faults.always(verb, { before: "hang" });
    },
    webhook: async (key, ref) => backend.webhook([{ key, ref }]),
    close: async () => {},
  };
};

export const refusesDeclines: Required<FakeAdapterOptions>["onAnswer"] = (execution, { action }) => {
  if (action !== "accept") throw new BridgeError("unsupported", "it can only be accepted", { operation: "answer" });
  execution.succeed();
};
