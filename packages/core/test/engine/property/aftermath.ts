import type { TaskRecord } from "../../../src/index.ts";
import { hasEnded, isStartUnknown } from "./ledger.ts";
import { hasStopped, isRefOf, type Model } from "./model.ts";

/** The content of every output that is read in ranges: of three chunks. */
export const streamed = "ten bytes!";

const untilIdle = Number.POSITIVE_INFINITY;

/** Backends that were only asked to stop do so. */
export const obeyCancels = (model: Model): void => {
  for (const execution of model.backend.fake.executions)
    if (execution.cancels.length > 0 && !hasStopped(execution)) execution.stop("as asked");
};

/** What has happened settles; then all executions end; then all tasks expire. */
export const phases: readonly [string, (model: Model) => Promise<void>][] = [
  [
    "once everything had settled",
    async (model) => {
      model.backend.clearFaults();
      model.backend.fake.events.release();
      for (const { process } of model.servers) process.state = "running";
      await model.world.run(untilIdle);
      // Before they expire.
      await assertResults(model);
      if (model.servers.length === 0) model.spawn();
      // A sweep at least, and as long as anything is still to be told to the backend.
      for (let waits = 0; waits < 5 && (waits === 0 || someTask(model, isUnsettled)); waits++)
        await model.world.advance(25_000, untilIdle);
      assertStopped(model);
      assertAnswered(model);
    },
  ],
  [
    "once every execution had ended",
    async (model) => {
      obeyCancels(model);
      for (const execution of model.backend.fake.executions)
        if (!hasStopped(execution)) execution.succeed({ by: execution.id });
      await model.world.advance(30_000, untilIdle);
      // What has vanished without proof is given up only after `lostAfterMs`.
      if (someTask(model, (record) => !hasEnded(record) || record.slotHeld))
        await model.world.advance(100_000, untilIdle);
      assertEnded(model);
      await assertResults(model);
      assertStartedOnce(model);
    },
  ],
  [
    "once every task had expired",
    async (model) => {
      await model.world.advance(60_000, untilIdle);
      assertFollowersNotified(model);
      const left = await model.ledger.store.list({ operator: true }, { includeExpired: true }, undefined, 100);
      for (const record of left.records) model.accuse(`a record is left: ${JSON.stringify(record)}`);
    },
  ],
];

const isUnsettled = ({ effects }: TaskRecord): boolean =>
  effects.some(({ kind }) => kind === "start" || kind === "cancel" || kind === "answer" || kind === "capture");

const currentTasks = (model: Model): readonly TaskRecord[] =>
  model.ledger.taskIds.flatMap((taskId) => {
    const record = model.ledger.historyOf(taskId).at(-1);
    return record === undefined || model.ledger.isRemoved(taskId) ? [] : [record];
  });

const someTask = (model: Model, matches: (record: TaskRecord) => boolean): boolean => currentTasks(model).some(matches);

/** Nobody's execution runs on: it is in its record, and was told to stop where that was wanted. */
const assertStopped = (model: Model): void => {
  const { backend, ledger } = model;
  for (const execution of backend.fake.executions) {
    if (backend.hasVanished(execution) || hasStopped(execution)) continue;
    const history = ledger.byKey(execution.key);
    const record = history?.at(-1);
    // A start that arrives after `forget` is new to the backend.
    if (backend.fake.executions.some((other) => other.key === execution.key && other.forgotten)) continue;
    const isKnown = history?.some(({ ref }) => ref !== undefined && isRefOf(execution, ref)) ?? false;
    if (!isKnown && backend.isStray(execution)) continue;
    if (history === undefined || record === undefined) {
      model.accuse(`${execution.id} belongs to no task`);
      continue;
    }
    const isLost = record.failure?.code === "start_unknown" || (isStartUnknown(record) && !isTraceable(model));
    if (!isKnown && !isLost && backend.fake.starts(execution.key) === 1)
      model.accuse(`${execution.id} runs, but its task never knew it: ${JSON.stringify(record)}`);
    const isUnwanted = hasEnded(record) || record.cancel !== undefined || ledger.isRemoved(record.taskId);
    // Of two that a restart started, the record holds the ref of one: the other may run on.
    const isOneOfTwo = record.policy.onUnknownStart === "restart" && backend.fake.starts(execution.key) > 1;
    const isReported =
      isOneOfTwo || execution.cancels.length > 0 || backend.denied.has("cancel") || cancelIsAbsent(model);
    if (isKnown && isUnwanted && !isReported)
      model.accuse(`${execution.id} runs on, although its task is ${record.state}: ${JSON.stringify(record)}`);
  }
};

/** Whether the backend offers a way to learn the ref of a start whose answer was lost. */
const isTraceable = ({ servers: [server], backend }: Model): boolean =>
  server?.adapter.find !== undefined ||
  (server?.adapter.traits.start.kind === "idempotent" && !backend.denied.has("start"));

const cancelIsAbsent = (model: Model): boolean => model.servers[0]?.adapter.cancel === undefined;

const assertAnswered = (model: Model): void => {
  const { backend, ledger } = model;
  for (const execution of backend.fake.executions) {
    const questions = execution.answers.map(({ questionId }) => questionId);
    if (new Set(questions).size < questions.length) model.accuse(`${execution.id} was answered twice`);
    for (const question of execution.snapshot.questions ?? []) {
      const record = ledger.byKey(execution.key)?.at(-1);
      const isTaken = model.acceptedAnswers.some(
        ({ taskId, questionId }) => taskId === record?.taskId && questionId === question.id,
      );
      if (!isTaken || record === undefined || hasEnded(record) || record.cancel !== undefined) continue;
      if (backend.hasVanished(execution) || backend.denied.has("answer")) continue;
      model.accuse(`the accepted answer to ${question.id} of ${execution.id} was lost: ${JSON.stringify(record)}`);
    }
  }
};

const assertEnded = (model: Model): void => {
  const { backend, ledger } = model;
  for (const record of currentTasks(model)) {
    if (!hasEnded(record)) model.accuse(`a task does not end: ${JSON.stringify(record)}`);
    if (record.slotHeld) model.accuse(`a slot is not given back: ${JSON.stringify(record)}`);
    const executions = backend.fake.executions.filter(({ key }) => key === record.startKey);
    if (record.state === "succeeded" && !executions.some(({ snapshot }) => snapshot.status === "succeeded"))
      model.accuse(`a task succeeded whose execution did not: ${JSON.stringify(record)}`);
    if (record.failure?.kind === "job" && !executions.some(({ snapshot }) => snapshot.status === "failed"))
      model.accuse(`a task failed whose execution did not: ${JSON.stringify(record)}`);
  }
  for (const { taskId } of model.held) {
    const record = ledger.historyOf(taskId).at(-1);
    if (record !== undefined && ledger.isRemoved(taskId) && !hasEnded(record))
      model.accuse(`a task was removed before its end: ${JSON.stringify(record)}`);
  }
};

const assertFollowersNotified = (model: Model): void => {
  for (const { process, state, taskId } of model.followers)
    if (process.state === "running" && state === "listening" && !isClosing(model, process))
      model.accuse(`a follower of ${taskId} was never told the end`);
};

/** Whose task succeeded has the result of its own execution, whole. */
const assertResults = async (model: Model): Promise<void> => {
  for (const record of currentTasks(model)) {
    if (record.output === undefined) continue;
    const range = { offset: 0, length: 1_000 };
    const kept = await model.ledger.store.readPayload(record.taskId, record.output.payload ?? "output", range);
    const text = Buffer.from(kept?.bytes ?? []).toString("utf8");
    // More than one only where a restart is allowed to start twice.
    const executions = model.backend.fake.executions.filter(({ key }) => key === record.startKey);
    const made = executions.map(({ snapshot: { output } }) =>
      output?.kind === "json" ? JSON.stringify(output.value) : output && streamed,
    );
    if (!made.includes(text)) model.accuse(`the result of ${JSON.stringify(record)} is ${text}, not one of ${made}`);
  }
};

const isClosing = (model: Model, process: Model["followers"][number]["process"]): boolean =>
  !model.servers.some((server) => server.process === process);

const assertStartedOnce = (model: Model): void => {
  const { backend, ledger } = model;
  const keys = new Set(backend.fake.executions.map(({ key }) => key));
  for (const key of keys) {
    const executions = backend.fake.executions.filter((execution) => execution.key === key);
    const policy = ledger.byKey(key)?.at(-1)?.policy;
    // After `forget` the backend rightly knows nothing of the key.
    const max = policy?.onUnknownStart === "restart" ? Number.POSITIVE_INFINITY : 1;
    if (executions.filter(({ forgotten }) => !forgotten).length > max)
      model.accuse(`${key} was started ${executions.length} times`);
  }
};
