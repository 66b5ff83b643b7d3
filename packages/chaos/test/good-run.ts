import type { Evidence, KeptJob, KeptTask, WorkerLine } from "../src/checks/evidence.ts";
import type { LedgerEvent } from "../src/clients/ledger.ts";

const wire = "2026-07-28";

/** Evidence of a run in which two calls went well: `c1-1` of a tool that is slow, `c2-1` of one that asks. */
export const goodRun = (): Evidence => ({ events: goodEvents, tasks: goodTasks, jobs: goodJobs, lines: goodLines });

/** The same with something else in it. */
export const goodRunWith = (change: Partial<Evidence>): Evidence => ({ ...goodRun(), ...change });

/** The same with more events. */
export const withEvents = (...events: readonly LedgerEvent[]): Evidence =>
  goodRunWith({ events: [...goodEvents, ...events] });

/** The same with another task, job or both for the first call. */
export const withTask = (change: Partial<KeptTask>): Evidence =>
  goodRunWith({ tasks: goodTasks.map((task, index) => (index === 0 ? { ...task, ...change } : task)) });
export const withJob = (change: Partial<KeptJob>): Evidence =>
  goodRunWith({ jobs: goodJobs.map((job, index) => (index === 0 ? { ...job, ...change } : job)) });
export const withLines = (...lines: readonly WorkerLine[]): Evidence =>
  goodRunWith({ lines: [...goodLines, ...lines] });

/** A look of the first call. */
export const polled = (status: "open" | "finished" | "cancelled" | "not found", sentAt: number): LedgerEvent => ({
  kind: "saw",
  call: "c1-1",
  status,
  wire,
  sentAt,
  at: sentAt + 1,
});

const goodEvents: readonly LedgerEvent[] = [
  { kind: "started", call: "c1-1", tool: "slow", owner: "ann", wire, sentAt: 1 },
  { kind: "acknowledged", call: "c1-1", taskId: "t1", at: 2 },
  { kind: "started", call: "c2-1", tool: "ask", owner: "bob", wire, sentAt: 1 },
  { kind: "acknowledged", call: "c2-1", taskId: "t2", at: 2 },
  polled("open", 3),
  polled("finished", 10),
  { kind: "result", call: "c1-1", result: { text: '{"steps":4}', isError: false }, wire },
  { kind: "answering", call: "c2-1", token: "yes-1", sentAt: 4 },
  { kind: "answered", call: "c2-1", token: "yes-1", at: 5 },
  { kind: "result", call: "c2-1", result: { text: '{"token":"yes-1"}', isError: false }, wire },
  { kind: "listed", owner: "ann", taskIds: ["t1"] },
  { kind: "probed", verb: "poll", foreign: "-32602: Task not found", unknown: "-32602: Task not found" },
];

const task = (taskId: string, call: string, startKey: string): KeptTask => ({
  taskId,
  call,
  startKey,
  state: "succeeded",
  message: undefined,
  isOver: true,
  isDeleted: false,
  isOfNext: true,
  hasNext: true,
});
const goodTasks: readonly KeptTask[] = [task("t1", "c1-1", "key-1"), task("t2", "c2-1", "key-2")];

const goodJobs: readonly KeptJob[] = [
  {
    id: "key-1",
    call: "c1-1",
    returned: '{"steps":4}',
    failedReason: undefined,
    isRemoved: false,
    given: 1,
    stalls: 0,
  },
  {
    id: "key-2",
    call: "c2-1",
    returned: '{"token":"yes-1"}',
    failedReason: undefined,
    isRemoved: false,
    given: 2,
    stalls: 0,
  },
];

const goodLines: readonly WorkerLine[] = [
  { kind: "begins", job: "key-1", call: "c1-1" },
  { kind: "returns", job: "key-1", value: '{"steps":4}' },
  { kind: "begins", job: "key-2", call: "c2-1" },
  { kind: "puts off", job: "key-2" },
  { kind: "begins", job: "key-2", call: "c2-1" },
  { kind: "is answered", job: "key-2", token: "yes-1" },
  { kind: "returns", job: "key-2", value: '{"token":"yes-1"}' },
];
