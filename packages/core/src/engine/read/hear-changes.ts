import type { TaskId } from "../../contract/identity.ts";
import type { EngineContext } from "../context/engine-context.ts";

/** After a gap, waiters read again so many at a time, with a pause between (milliseconds): a store that is just back is spared a rush. */
const rereadAtOnce = 100;
const rereadPauseMs = 20;

/** Tells waiters of this process what others have written. Returns how to stop. */
export const hearChanges = (engine: EngineContext): (() => void) => {
  let stopRereading: () => void = () => {};
  const reread = (taskIds: readonly TaskId[]): void => {
    for (const taskId of taskIds.slice(0, rereadAtOnce)) engine.hub.publish(taskId, undefined);
    const rest = taskIds.slice(rereadAtOnce);
    stopRereading = rest.length === 0 ? () => {} : engine.clock.schedule(rereadPauseMs, () => reread(rest));
  };
  const stopHearing = engine.store.watch?.((taskId) => {
    if (taskId !== undefined) {
      engine.hub.publish(taskId, undefined);
      return;
    }
    stopRereading();
    reread(engine.hub.subscribed());
  });
  return () => {
    stopHearing?.();
    stopRereading();
  };
};
