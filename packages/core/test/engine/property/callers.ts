import { isDeepStrictEqual } from "node:util";
import type { TaskView } from "../../../src/index.ts";
import type { Act, owners } from "./commands.ts";
import { hasEnded, isOver } from "./ledger.ts";
import { accessOf, type Model } from "./model.ts";

/** The item at this index, counted round; undefined only of none. */
export const at = <Item>(items: readonly Item[], index: number): Item | undefined =>
  items[index % Math.max(items.length, 1)];

/** Mostly one of those that matter most, or else any. */
export const pick = <Item>(items: readonly Item[], index: number, matters: (item: Item) => boolean): Item | undefined =>
  (index === 3 ? undefined : at(items.filter(matters), index)) ?? at(items, index);

export const runningServer = (model: Model, index: number): Model["servers"][number] | undefined =>
  at(
    model.servers.filter(({ process }) => process.state === "running"),
    index,
  );

/** A client calls a tool. */
export const create = (model: Model, act: Extract<Act, { readonly do: "create" | "create and hang up" }>): void => {
  const server = runningServer(model, model.held.length);
  if (server === undefined) return;
  const owner = act.do === "create" ? act.owner : "ann";
  const hangUp = new AbortController();
  const request = {
    tool: act.tool,
    input: { n: act.do === "create" ? act.input : 7 },
    owner: accessOf(owner).owner,
    ...(act.do === "create" ? {} : { signal: hangUp.signal }),
    ...(act.do === "create" && act.mint !== undefined ? { taskId: act.mint } : {}),
  };
  const created = server.engine.createTask(request);
  model.expectOutcome("create", created, ({ record }) => {
    const last = model.ledger.byKey(record.startKey)?.at(-1);
    const taskId = last?.taskId ?? "";
    model.held.push({ id: record.taskId, taskId, owner, isDeleted: false, isGone: false });
    if (request.taskId !== undefined && request.taskId !== record.taskId)
      model.accuse(`a client minted ${request.taskId} and was given ${record.taskId}`);
    if (last === undefined) model.accuse("a task was handed out that was never written");
    else if (model.ledger.isRemoved(taskId) && !isOver(last, model.world.now()))
      model.accuse(`task ${taskId} was handed out after it had been removed`);
  });
  if (act.do === "create and hang up") hangUp.abort();
};

type TaskAct = Extract<Act, { readonly task: number }>;

const isAboutQuestions = (act: TaskAct): boolean => act.do === "answer" || "holder" in act;

/** A client does something with a task whose ID it knows. */
export const useTask = (model: Model, act: TaskAct): void => {
  const task = pick(model.held, act.task, ({ taskId }) => {
    const record = model.ledger.historyOf(taskId).at(-1);
    return record !== undefined && (isAboutQuestions(act) ? record.state === "waiting" : !hasEnded(record));
  });
  const server = runningServer(model, act.task);
  if (task === undefined || server === undefined) return;
  const { engine } = server;
  const access = accessOf(task.owner);
  const wasGone = task.isGone;
  const see = (view: TaskView): void => {
    if (wasGone) model.accuse("a deleted task was shown");
    if (view.record.taskId !== task.id || view.record.owner !== task.owner) model.accuse("another task was shown");
    if (view.output?.length !== view.record.output?.bytes) model.accuse("a result was shown that is not whole");
    if (JSON.stringify(view).includes("fake-secret")) model.accuse("a secret was shown");
  };
  switch (act.do) {
    case "read": {
      const reading = engine.readTask(task.id, access);
      model.expectOutcome("read", reading, see);
      if (wasGone) expectUnknown(model, reading, "the owner of a deleted task");
      break;
    }
    case "read as another":
      expectUnknown(model, engine.readTask(task.id, accessOf("eve")), "somebody else");
      break;
    case "wait":
      model.expectOutcome("wait", engine.waitForTask(task.id, access, { until: "attention", timeoutMs: 20_000 }), see);
      break;
    case "follow":
      follow(model, server, task);
      break;
    case "cancel":
    case "cancel and latch": {
      const isFinal = act.do === "cancel and latch";
      model.expectOutcome("cancel", engine.cancelTask(task.id, access, { reason: "unwanted", isFinal }), (view) => {
        see(view);
        if (isFinal && !hasEnded(view.record)) model.accuse("a latched cancel left the task open");
      });
      break;
    }
    case "delete":
      task.isDeleted = true;
      model.expectOutcome("delete", engine.deleteTask(task.id, access), () => {
        task.isGone = true;
        if (model.ledger.historyOf(task.taskId).at(-1)?.expired !== true) model.accuse("a deleted task is still there");
      });
      break;
    case "answer":
      answer(model, server, task, act.action);
      break;
    case "claim":
    case "release":
      claimOrRelease(model, task, act);
      break;
    case "claim together":
      for (const holder of [0, 1, 2]) claimOrRelease(model, task, { ...act, do: "claim", holder });
  }
};

const expectUnknown = (model: Model, reading: Promise<unknown>, who: string): void => {
  reading.then(
    () => model.accuse(`${who} was shown it`),
    (error: Error) => {
      if (error.message !== "Task not found") model.accuse(`${who} was told: ${error.message}`);
    },
  );
};

const follow = (model: Model, { engine, process }: Model["servers"][number], task: Model["held"][number]): void => {
  const follower: Model["followers"][number] = { process, taskId: task.taskId, revision: 0, state: "listening" };
  const following = engine.followTask(
    task.id,
    accessOf(task.owner),
    ({ record }) => {
      if (record.revision <= follower.revision) model.accuse("a follower was told an older state");
      if (follower.state !== "listening") model.accuse(`a follower whose task is ${follower.state} was told more`);
      follower.revision = record.revision;
      if (hasEnded(record)) follower.state = "over";
    },
    () => {
      follower.state = "gone";
    },
  );
  model.expectOutcome("follow", following, () => void model.followers.push(follower));
};

const answer = (
  model: Model,
  { engine }: Model["servers"][number],
  task: Model["held"][number],
  action: "accept" | "decline" | "cancel",
): void => {
  const record = model.ledger.historyOf(task.taskId).at(-1);
  const open = record?.questions.filter(({ state }) => state === "open") ?? [];
  if (open.length === 0) return;
  const answers: Record<string, { action: typeof action; content?: { n: number } }> = {};
  for (const question of open) {
    const given = { action, ...(action === "accept" ? { content: { n: model.nextAnswer() } } : {}) };
    answers[question.key] = given;
    const about = `${task.taskId} ${question.questionId}`;
    model.intents.set(about, [...(model.intents.get(about) ?? []), given]);
  }
  model.expectOutcome("answer", engine.answerTask(task.id, accessOf(task.owner), answers), ({ accepted }) => {
    for (const question of open)
      if (accepted.includes(question.key))
        model.acceptedAnswers.push({ taskId: task.taskId, questionId: question.questionId });
  });
};

/** Somebody wants to put every open question to a person, or no longer. Any process may be asked. */
const claimOrRelease = (
  model: Model,
  { id, taskId, owner }: Model["held"][number],
  act: Extract<Act, { readonly holder: number }>,
): void => {
  const engine = runningServer(model, act.holder)?.engine;
  const by = `holder${act.holder}`;
  for (const { key, state } of model.ledger.historyOf(taskId).at(-1)?.questions ?? []) {
    if (engine === undefined || state !== "open") continue;
    if (act.do === "release") {
      model.released.add(`${taskId} ${key} ${by}`);
      model.expectOutcome("release", engine.releaseQuestion(id, accessOf(owner), key, by), () => {});
      continue;
    }
    const claiming = engine.claimQuestion(id, accessOf(owner), key, { by, forMs: act.forMs });
    model.expectOutcome("claim", claiming, (outcome) => {
      if (outcome.outcome !== "held") return;
      const { claim } = outcome.question;
      const isWritten = model.ledger
        .historyOf(taskId)
        .some(({ questions }) => isDeepStrictEqual(questions.find((known) => known.key === key)?.claim, claim));
      if (claim?.by !== by || !isWritten) model.accuse(`${by} holds ${key} by a claim that was never written`);
    });
  }
};

export const list = (model: Model, owner: (typeof owners)[number]): void => {
  const gone = model.held.filter((task) => task.owner === owner && task.isGone).map(({ id }) => id);
  const listing = runningServer(model, 0)?.engine.listTasks(accessOf(owner), {}, undefined, 50);
  if (listing === undefined) return;
  model.expectOutcome("list", listing, ({ tasks }) => {
    if (tasks.some(({ record }) => record.owner !== owner)) model.accuse(`${owner} was shown another's task`);
    if (tasks.some(({ record }) => gone.includes(record.taskId))) model.accuse("a deleted task is listed");
  });
};
