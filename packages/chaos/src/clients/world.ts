/** A task that some client was told. */
export interface KnownTask {
  readonly taskId: string;
  readonly call: string;
  readonly tool: string;
  /** The owner's name. */
  readonly owner: string;
  /** Some client has its end, with its result if it has one. */
  isRead: boolean;
  /** An answer to its question was taken. */
  isAnswered: boolean;
  /** Its owner deletes it, or may. */
  isDeleted: boolean;
}

/** What all clients together know of tasks, so that they meddle with each other's. */
export interface World {
  readonly tasks: readonly KnownTask[];
  add(task: Pick<KnownTask, "taskId" | "call" | "tool" | "owner">): KnownTask;
  ofOwner(owner: string): readonly KnownTask[];
  ofOthers(owner: string): readonly KnownTask[];
  byCall(call: string): KnownTask | undefined;
}

export const createWorld = (): World => {
  const tasks: KnownTask[] = [];
  const calls = new Map<string, KnownTask>();
  return {
    tasks,
    add: (task) => {
      const known = { ...task, isRead: false, isAnswered: false, isDeleted: false };
      tasks.push(known);
      calls.set(task.call, known);
      return known;
    },
    ofOwner: (owner) => tasks.filter((task) => task.owner === owner),
    ofOthers: (owner) => tasks.filter((task) => task.owner !== owner),
    byCall: (call) => calls.get(call),
  };
};
