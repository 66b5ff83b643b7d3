import type { TaskServerOptions } from "@taskbridge/server";

export type ServerSettings = Omit<TaskServerOptions, "store" | "adapters">;

/** What every server of these tests is made with. A call that a life before left under way is taken up after `callTimeoutMs` and two seconds. */
export const toSettings = (callTimeoutMs: number): ServerSettings => ({
  name: "under-test",
  limits: { maxConcurrentTasksPerOwner: 2_000, callTimeoutMs, sweepIntervalMs: 2_000 },
  tools: [
    {
      name: "work",
      description: "Works for a while, asks, or runs until it is cancelled.",
      adapter: "aws",
      target: { stateMachine: "orders" },
      input: {
        type: "object",
        properties: { n: { type: "integer" }, kind: { type: "string" }, ms: { type: "integer" } },
        required: ["n", "kind", "ms"],
      },
      task: { pollIntervalMs: 2_000 },
    },
  ],
});
