import { type CallContext, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, Step } from "../google/client.ts";
import type { TokenBucket } from "../google/token-bucket.ts";
import { executionNameOf } from "../mapping/execution-name.ts";
import { goesOn, isUnderWay, pageSizes } from "./sweeps.ts";

export interface StepLists {
  /** Begins to list the steps of a workflow's executions if enough are wanted, and none is under way or was a moment ago. Not waited for. */
  want(workflow: string, executions: readonly { readonly name: string }[], log: CallContext["log"]): void;
  /** Whether a list has told the steps of all a moment ago, so that none need be read by itself. */
  isFresh(workflow: string): boolean;
}

export interface StepListTools {
  readonly client: Pick<GcwClient, "list">;
  /** Of lists. */
  readonly rate: TokenBucket;
  /** Hears of each execution that goes on, page by page. */
  readonly note: (name: string, steps: readonly Step[]) => void;
  /** How many executions a list of the workflow holds, as far as it is known. */
  readonly lastListed: (workflow: string) => number | undefined;
  /** Ends what is under way. */
  readonly closing: AbortSignal;
  /** Milliseconds. */
  readonly now?: () => number;
}

/** Of more pages, one list would take half a minute. */
const maxPages = 50;
/** A page uses up as much of its rate as so many reads of one execution. */
const getsPerPage = 5;
/** Between two lists, unless the last one took longer (milliseconds). */
const pauseMs = 3_000;
/** Where it fails, executions are read by themselves for so long (milliseconds). */
const failedMs = 60_000;
/** What a list has told stays good for so long (milliseconds): the next one follows sooner. */
const freshMs = 20_000;
/** How long a page waits for its turn (milliseconds). */
const turnMs = 10_000;

/**
 * Lists of the steps of very many executions. They take too long for statuses to wait for them, and cost a twentieth of what it would
 * to read each execution.
 */
export const stepLists = ({
  client,
  rate,
  note,
  lastListed,
  closing,
  now = () => performance.now(),
}: StepListTools): StepLists => {
  const wanted = new Map<string, Set<string>>();
  const notBefore = new Map<string, number>();
  const reportedAt = new Map<string, number>();

  /** Whether it was read to its end. */
  const list = async (workflow: string): Promise<boolean> => {
    let token: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      if (!(await rate.take(turnMs, closing))) return false;
      const paging = { size: pageSizes.FULL, ...(token === undefined ? {} : { token }) };
      const { rows, next } = await client.list(workflow, { view: "FULL", filter: goesOn, ...paging }, closing);
      for (const row of rows) {
        const name = executionNameOf(workflow, row.name);
        if (name !== undefined && isUnderWay(row)) note(name, row.steps);
      }
      token = next;
      if (token === undefined) return true;
    }
    return false;
  };

  const begin = async (workflow: string, log: CallContext["log"]): Promise<void> => {
    const beganAt = now();
    notBefore.set(workflow, Number.POSITIVE_INFINITY);
    try {
      if (await list(workflow)) reportedAt.set(workflow, now());
      notBefore.set(workflow, now() + Math.max(pauseMs, now() - beganAt));
    } catch (error) {
      notBefore.set(workflow, now() + failedMs);
      if (!closing.aborted) log("warn", `steps are read one by one: ${toBridgeError(error).message}`);
    }
  };

  return {
    want: (workflow, executions, log) => {
      const waiting = wanted.get(workflow) ?? new Set();
      wanted.set(workflow, waiting);
      for (const { name } of executions) waiting.add(name);
      const pages = Math.ceil((lastListed(workflow) ?? Number.POSITIVE_INFINITY) / pageSizes.FULL);
      if (pages > maxPages || waiting.size <= pages * getsPerPage || now() < (notBefore.get(workflow) ?? 0)) return;
      waiting.clear();
      void begin(workflow, log);
    },
    isFresh: (workflow) => now() - (reportedAt.get(workflow) ?? Number.NEGATIVE_INFINITY) < freshMs,
  };
};
