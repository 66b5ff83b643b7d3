import { createTaskEngine, type TaskEngine } from "@taskbridge/core";
import type { TaskStore } from "@taskbridge/core/store";
import { fakeAdapter } from "@taskbridge/testkit/adapter";

/** The adapter of the tasks that are purged, and the only one that the engines have. */
export const purgedAdapter: string = "purged";

/** Told what becomes of them. */
export interface PurgeObserver {
  removed(): void;
  failed(message: string): void;
}

/** An engine that has nothing but retention to do. `keeps`: its backend keeps something for each task, which it is told to forget. */
export const purgingEngine = (store: TaskStore, keeps: boolean, observer: PurgeObserver): TaskEngine => {
  const { adapter } = fakeAdapter({ without: keeps ? ["watch"] : ["watch", "forget"] });
  return createTaskEngine({
    store,
    adapters: { [purgedAdapter]: adapter },
    tools: [{ name: "purged", adapter: purgedAdapter, target: { run: "purged" } }],
    audit: ({ kind, message = "" }) => {
      if (kind === "task_removed") observer.removed();
      if (kind === "internal_error") observer.failed(message);
    },
  });
};
