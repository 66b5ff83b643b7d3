import type { TaskRecord } from "../../../src/index.ts";
import { memoryStore } from "../../../src/memory-store.ts";
import type { TaskStore } from "../../../src/store.ts";
import type { Process, World } from "./world.ts";

/** Every revision of every task, and what was wrong about them. */
export interface Ledger {
  /** What one process sees of the shared store. */
  storeOf(process: Process): TaskStore;
  /** Revisions of a task, oldest first. */
  historyOf(taskId: string): readonly TaskRecord[];
  readonly taskIds: readonly string[];
  isRemoved(taskId: string): boolean;
  /** The task whose start key this is. */
  byKey(startKey: string): readonly TaskRecord[] | undefined;
  /** Past the processes and the schedule: what is really in the store. */
  readonly store: TaskStore;
}

export interface LedgerOptions {
  readonly world: World;
  /** A fault put between the ledger and the memory. */
  readonly spoil?: (store: TaskStore) => TaskStore;
  readonly accuse: (text: string) => void;
  /** Whether the execution of this record certainly still runs, and can be seen. */
  readonly isRunning: (record: TaskRecord) => boolean;
  /** Whether whoever asks the backend for the execution of this record is certainly told of it. */
  readonly isFindable: (record: TaskRecord) => boolean;
  readonly isHandedOut: (taskId: string) => boolean;
  readonly isDeleted: (taskId: string) => boolean;
  /** Whether this holder ever gave back its claim of this question. */
  readonly isReleased: (taskId: string, key: string, by: string) => boolean;
}

const backend: Process = { name: "memory", state: "running" };

export const createLedger = (options: LedgerOptions): Ledger => {
  const { world, accuse } = options;
  const memory = memoryStore({ clock: world.clockOf(backend) });
  const store = options.spoil?.(memory) ?? memory;
  const histories = new Map<string, TaskRecord[]>();
  const byKey = new Map<string, TaskRecord[]>();
  const removed = new Set<string>();

  const noteRevision = (written: TaskRecord): void => {
    const history = histories.get(written.taskId) ?? [];
    const before = history.at(-1);
    history.push(written);
    histories.set(written.taskId, history);
    byKey.set(written.startKey, history);
    const complain = (text: string): void =>
      accuse(`task ${written.taskId.slice(0, 6)}: ${text}, in ${JSON.stringify(written)}`);
    assertRecord(written, complain);
    if (before !== undefined) assertRevision(before, written, history, world.now(), options, complain);
  };

  const assertLimit = (owner: string | null, max: number | null): void => {
    const current = [...histories.values()].map((history) => history.at(-1));
    const open = current.filter((task) => task?.owner === owner && task.slotHeld && !removed.has(task.taskId)).length;
    if (max !== null && open > max) accuse(`${owner} has ${open} open tasks of at most ${max}`);
  };

  const noteRemoval = (taskId: string): void => {
    const last = histories.get(taskId)?.at(-1);
    if (last === undefined || removed.has(taskId)) return;
    removed.add(taskId);
    if (last.expired === true && last.slotHeld)
      accuse(`task ${taskId.slice(0, 6)} was removed while its slot was held`);
    if (!isOver(last, world.now()) && options.isHandedOut(taskId))
      accuse(`task ${taskId.slice(0, 6)} was removed although it had been handed out`);
  };

  return {
    store,
    historyOf: (taskId) => histories.get(taskId) ?? [],
    get taskIds() {
      return [...histories.keys()];
    },
    isRemoved: (taskId) => removed.has(taskId),
    byKey: (startKey) => byKey.get(startKey),
    storeOf: (process) => {
      const pass = <T>(act: () => Promise<T>): Promise<T> => world.pass(process, act);
      const { watch: _watch, ...rest } = store;
      return {
        ...rest,
        create: (record, created) =>
          pass(async () => {
            const written = await store.create(record, created);
            // A server mints none twice, and what a client minted stays taken for longer than any run.
            if (histories.has(written.taskId)) accuse(`a second task is called ${written.taskId}`);
            noteRevision(written);
            assertLimit(written.owner, created.maxOpenForOwner);
            return written;
          }),
        read: (taskId) => pass(() => store.read(taskId)),
        revise: (record, expected, revised) =>
          pass(async () => {
            const written = await store.revise(record, expected, revised);
            noteRevision(written);
            return written;
          }),
        remove: (taskId, expected) =>
          pass(async () => {
            const wasThere = await store.remove(taskId, expected);
            noteRemoval(taskId);
            return wasThere;
          }),
        list: (scope, filter, cursor, limit) => pass(() => store.list(scope, filter, cursor, limit)),
        due: (limit, claimForMs) => pass(() => store.due(limit, claimForMs)),
        nextWakeAt: () => pass(() => store.nextWakeAt()),
        findByExecution: (adapterId, by) => pass(() => store.findByExecution(adapterId, by)),
        putPayload: (taskId, name, offset, bytes) => pass(() => store.putPayload(taskId, name, offset, bytes)),
        readPayload: (taskId, name, range) => pass(() => store.readPayload(taskId, name, range)),
        values: {
          read: (name) => pass(() => store.values.read(name)),
          write: (name, value, previous) => pass(() => store.values.write(name, value, previous)),
        },
        lease: (name, ttlMs) =>
          pass(async () => {
            const lease = await store.lease(name, ttlMs);
            return lease && { renew: () => pass(() => lease.renew()), release: () => pass(() => lease.release()) };
          }),
      };
    },
  };
};

export const hasEnded = (record: Pick<TaskRecord, "state">): boolean =>
  record.state === "succeeded" || record.state === "failed" || record.state === "cancelled";

/** Whether a task has been kept for as long as it should, so that it may go at any time. */
export const isOver = (record: TaskRecord, now: number): boolean =>
  record.expired === true ||
  (hasEnded(record) && !record.slotHeld && (record.expiresAt ?? Number.POSITIVE_INFINITY) <= now);

/** Whether the start was given up without ever learning a ref, as its backend may leave no other way. */
export const isStartUnknown = (record: TaskRecord): boolean =>
  record.failure?.code === "start_unknown" ||
  (hasEnded(record) && record.ref === undefined && record.start.firstSentAt !== undefined);

/** What must be true of every record by itself. */
const assertRecord = (record: TaskRecord, complain: (text: string) => void): void => {
  const text = JSON.stringify(record);
  if (text.includes("fake-secret")) complain("it holds a secret");
  if (text.length > 16_384) complain(`it has ${text.length} characters`);
  if (new Set(record.questions.map(({ key }) => key)).size < record.questions.length)
    complain("two questions of one key");
  for (const kind of ["start", "cancel", "capture", "forget"]) {
    const count = record.effects.filter((effect) => effect.kind === kind).length;
    if (count > 1) complain(`${count} effects of kind ${kind}`);
  }
  const isAsking = record.questions.some(({ state }) => state === "open");
  if (isAsking !== (record.state === "waiting"))
    complain(`it is ${record.state}, with${isAsking ? "" : "out"} a question`);
  if ((record.state === "running" || isAsking) && record.begunAt === undefined)
    complain(`it is ${record.state}, but has not begun`);
  if (hasEnded(record) !== (record.endedAt !== undefined)) complain(`${record.state}, ended at ${record.endedAt}`);
  if (!record.slotHeld && record.expired === true && record.effects.length === 0)
    complain("nothing will ever remove it");
};

const fixed = ["taskId", "owner", "tool", "adapterId", "target", "startKey", "policy", "createdAt"] as const;
const fixedAtTheEnd = ["state", "message", "failure", "endedAt", "expiresAt"] as const;

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b));

/** What must be true of two revisions that follow one another. */
const assertRevision = (
  before: TaskRecord,
  after: TaskRecord,
  history: readonly TaskRecord[],
  now: number,
  options: LedgerOptions,
  complain: (text: string) => void,
): void => {
  const changes = (members: readonly (keyof TaskRecord)[]): void => {
    for (const member of members)
      if (!isSame(before[member], after[member]))
        complain(`${member} went from ${JSON.stringify(before[member])} to ${JSON.stringify(after[member])}`);
  };
  if (after.revision !== before.revision + 1) complain(`it follows revision ${before.revision}`);
  if (after.updatedAt < before.updatedAt || after.updatedAt > now) complain("updatedAt went back, or ahead of time");
  if (after.minted < before.minted) complain("the counter of keys went back");
  changes(fixed);
  if (hasEnded(before)) changes(after.expired === true ? fixedAtTheEnd : [...fixedAtTheEnd, "output"]);
  if (before.expired === true && after.expired !== true) complain("it is no longer expired");
  if (before.ref !== undefined && after.ref === undefined) complain("its ref was lost");
  if (!hasEnded(before) && after.failure?.code === "start_unknown" && options.isFindable(after))
    complain("its start was given up although its execution could be found");
  if (before.cancel !== undefined && after.cancel === undefined) complain("the request to cancel was lost");
  if (before.begunAt !== undefined) changes(["begunAt"]);
  if (before.deleted === true && after.deleted !== true) complain("it is no longer deleted");
  // A ref that comes after the start was given up shows that something runs, and so takes a slot again.
  const isLateRef = before.ref === undefined && after.ref !== undefined;
  // So does a start that is searched for again, because a server that was frozen during its send may have started something after all.
  const isSearchedAgain = after.ref === undefined && after.effects.some(({ kind }) => kind === "start");
  if (!before.slotHeld && after.slotHeld && !isLateRef && !isSearchedAgain) complain("it took a slot again");
  if (before.slotHeld && !after.slotHeld && !isStartUnknown(after) && options.isRunning(after))
    complain("its slot was released while the execution runs");
  if (after.expired === true && before.expired !== true) {
    const isDue = after.expiresAt !== undefined && after.expiresAt <= now;
    if (!isDue && !options.isDeleted(after.taskId)) complain("it expired before its time");
  }
  assertQuestions(before, after, history, complain);
  assertClaims(before, after, now, options, complain);
};

const assertQuestions = (
  before: TaskRecord,
  after: TaskRecord,
  history: readonly TaskRecord[],
  complain: (text: string) => void,
): void => {
  for (const question of after.questions) {
    const known = before.questions.find(({ key }) => key === question.key);
    if (known === undefined) {
      const isUsed = history.slice(0, -1).some(({ questions }) => questions.some(({ key }) => key === question.key));
      if (isUsed) complain(`the key ${question.key} is used again`);
      if (question.state === "open" && (hasEnded(after) || after.cancel !== undefined))
        complain(`the question ${question.key} is asked although nobody wants the task`);
    } else {
      if (known.questionId !== question.questionId) complain(`the key ${question.key} means another question`);
      if (known.state !== "open" && question.state === "open") complain(`the question ${question.key} is open again`);
      if (known.state !== "open" && known.state !== "answered" && question.state !== known.state)
        complain(`the question ${question.key} went from ${known.state} to ${question.state}`);
    }
  }
};

/** A question has one holder at most until that holder's time is over or it gives it back; and no claim shows. */
const assertClaims = (
  before: TaskRecord,
  after: TaskRecord,
  now: number,
  options: LedgerOptions,
  complain: (text: string) => void,
): void => {
  for (const { key, state, claim } of after.questions) {
    const known = before.questions.find((question) => question.key === key);
    if (state !== "open" && claim !== undefined) complain(`${key} is ${state} and claimed`);
    if (state !== "open" || isSame(known?.claim, claim)) continue;
    const { questions: _before, revision: _last, ...rest } = before;
    const { questions: _after, revision: _next, ...left } = after;
    if (known === undefined) complain(`${key} is claimed as soon as it is asked`);
    else if (!isSame(rest, left)) complain(`a claim of ${key} changed more, from ${JSON.stringify(before)}`);
    const held = known?.claim;
    if (held === undefined || held.until <= now || options.isReleased(after.taskId, key, held.by)) continue;
    if (claim === undefined) complain(`${held.by} lost its claim of ${key}`);
    else if (claim.by !== held.by) complain(`${claim.by} took ${key}, which ${held.by} holds until ${held.until}`);
    else if (claim.until < held.until) complain(`the claim of ${key} was shortened`);
  }
};
