import { type Block, newThread, type Thread } from "./run.ts";
import type { Scope } from "./scope.ts";
import { errorOf, type Value, WorkflowError } from "./values.ts";

/** Documented: branches and iterations of an execution that run at once. */
export const maxAtOnce = 20;

export interface Branch {
  readonly id: string;
  readonly run: Block;
  readonly variables: readonly (readonly [string, Value])[];
}

/** Every branch runs to its end, whatever becomes of the others. */
export const runBranches = async (
  branches: readonly Branch[],
  max: number,
  scope: Scope,
  thread: Thread,
): Promise<void> => {
  const queue = branches.values();
  const failed: { readonly id: string; readonly error: WorkflowError }[] = [];
  const work = async (): Promise<void> => {
    for (const { id, run, variables } of queue) {
      const own = newThread(thread.run, thread.depth);
      thread.branches.add(own);
      try {
        await run({ ...scope, variables: new Map(variables) }, own);
      } catch (error) {
        if (!(error instanceof WorkflowError)) throw error;
        failed.push({ id, error });
      } finally {
        thread.branches.delete(own);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(max, branches.length, maxAtOnce) }, work));
  const [first] = failed;
  if (first === undefined) return;
  const shown = failed.map(({ id, error }) => new Map<string, Value>(Object.entries({ id, error: error.value })));
  const message = `branch ${first.id} has failed: ${first.error.message}`;
  throw errorOf("UnhandledBranchError", message, { branches: shown, truncated: false });
};
