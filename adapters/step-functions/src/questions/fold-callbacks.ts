import type { HistoryEvent } from "../aws/client.ts";

/** A task that waits for somebody to send its token back. */
export interface OpenCallback {
  /** Of the event that scheduled it, which names this very wait: a retry is another one. */
  readonly id: number;
  readonly at: number;
  readonly state: string | undefined;
  readonly task: NonNullable<HistoryEvent["task"]>;
  /** Whether its token has been handed on, so that it waits for sure. */
  readonly isSubmitted: boolean;
}

/** The tasks of an execution that wait for their token. */
export interface CallbackFold {
  readonly open: readonly OpenCallback[];
  /** The next event, and the state it is of. */
  apply(event: HistoryEvent, state: string | undefined): void;
  clear(): void;
}

/** What follows a scheduled task while it goes on. Anything else that follows ends it. */
export const goesOn = (type: string): boolean => type === "TaskStarted" || type === "TaskSubmitted";

export const foldCallbacks = (): CallbackFold => {
  const open = new Map<number, OpenCallback>();
  /** Events of open waits, by their IDs, and which wait they are of. */
  const waits = new Map<number, number>();

  const follow = ({ id, previousId, type }: HistoryEvent): void => {
    const wait = waits.get(previousId);
    const callback = open.get(wait ?? 0);
    if (wait === undefined || callback === undefined) return;
    if (goesOn(type)) {
      waits.set(id, wait);
      open.set(wait, { ...callback, isSubmitted: callback.isSubmitted || type === "TaskSubmitted" });
      return;
    }
    open.delete(wait);
    for (const [event, of] of waits) if (of === wait) waits.delete(event);
  };

  return {
    get open() {
      return [...open.values()];
    },
    apply: (event, state) => {
      follow(event);
      const { id, at, type, task } = event;
      if (type !== "TaskScheduled" || task?.resource.endsWith(".waitForTaskToken") !== true) return;
      open.set(id, { id, at, state, task, isSubmitted: false });
      waits.set(id, id);
    },
    clear: () => {
      open.clear();
      waits.clear();
    },
  };
};
