import { asExecutionRef } from "../../../src/adapter.ts";
import type { FakeExecution } from "../../../src/testing.ts";
import { obeyCancels, phases, streamed } from "./aftermath.ts";
import { at, create, list, pick, runningServer, useTask } from "./callers.ts";
import { type Act, type Command, printScenario, type Scenario } from "./commands.ts";
import { createModel, hasStopped, type Model, type Parts } from "./model.ts";

/** Plays a scenario to its end and throws when anything was wrong on the way, or is left over. */
export const play = async (scenario: Scenario, parts: Parts = {}): Promise<void> => {
  const model = createModel(scenario, parts);
  const report = (when: string): void => {
    if (model.accusations.length === 0) return;
    throw new Error(`${when}:\n- ${model.accusations.join("\n- ")}\nin\n${printScenario(scenario)}`);
  };
  model.spawn();
  await model.world.run(Number.POSITIVE_INFINITY);
  for (const [index, command] of scenario.commands.entries()) {
    await perform(model, command);
    report(`after command ${index}, ${JSON.stringify(command)}`);
  }
  for (const [when, phase] of phases) {
    await phase(model);
    report(when);
  }
};

const all = Number.POSITIVE_INFINITY;
const stepsOf = (command: Command): number => (command.steps === "all" ? all : command.steps);

const perform = async (model: Model, command: Command): Promise<void> => {
  const { world } = model;
  if (command.do === "advance") return world.advance(command.ms, stepsOf(command));
  begin(model, command);
  await world.run(stepsOf(command));
};

const begin = (model: Model, act: Exclude<Act, { readonly do: "advance" }>): void => {
  const { backend, servers } = model;
  switch (act.do) {
    case "create":
    case "create and hang up":
      create(model, act);
      break;
    case "fault":
      backend.strike(act.verb, act.fault);
      break;
    case "refuse what was accepted":
      backend.strike("start", "lost after acceptance");
      backend.strike("start", "denied");
      break;
    case "move": {
      const execution = pick(backend.fake.executions, act.execution, (known) => !hasStopped(known));
      if (execution !== undefined) move(model, execution, act.move);
      break;
    }
    case "obey cancels":
      obeyCancels(model);
      break;
    case "hold news":
      backend.fake.events.hold();
      break;
    case "release news":
      backend.fake.events.release();
      break;
    case "repeat news":
    case "call webhook":
      repeatUpdate(model, act);
      break;
    case "call webhook of a namesake":
      notifyOfNamesake(model, act);
      break;
    case "spawn":
      if (servers.length < 3) model.spawn();
      break;
    case "pause":
    case "resume":
    case "kill and restart":
    case "close and restart":
      manageServer(model, act);
      break;
    case "list":
      list(model, act.owner);
      break;
    default:
      useTask(model, act);
  }
};

const repeatUpdate = (model: Model, act: Extract<Act, { readonly event: number }>): void => {
  const update = at(model.backend.fake.events.log, act.event);
  const server = runningServer(model, act.event);
  if (update === undefined || server === undefined) return;
  if (act.do === "repeat news") model.backend.fake.events.send(update);
  else model.expectOutcome("receive", server.engine.receive("a", model.backend.fake.webhook([update])), () => {});
};

const notifyOfNamesake = (
  model: Model,
  { task }: Extract<Act, { readonly do: "call webhook of a namesake" }>,
): void => {
  const tasks = model.ledger.taskIds.flatMap((taskId) => model.ledger.historyOf(taskId).at(-1) ?? []);
  const record = at(
    tasks.filter(({ ref, state }) => ref !== undefined && state !== "succeeded"),
    task,
  );
  const server = runningServer(model, task);
  if (record === undefined || server === undefined) return;
  const update = {
    key: record.startKey,
    ref: asExecutionRef('{"run":"elsewhere"}'),
    snapshot: { status: "succeeded", output: { kind: "json", value: { by: "a namesake" } } },
  } as const;
  model.expectOutcome("receive", server.engine.receive("a", model.backend.fake.webhook([update])), () => {});
};

const manageServer = (model: Model, act: Extract<Act, { readonly process: number }>): void => {
  const server = at(model.servers, act.process);
  if (server === undefined) return;
  switch (act.do) {
    case "pause":
      server.process.state = "paused";
      // What another does meanwhile is what makes a pause dangerous.
      if (runningServer(model, 0) === undefined && model.servers.length < 4) model.spawn();
      break;
    case "resume":
      server.process.state = "running";
      break;
    case "kill and restart":
      model.kill(server);
      model.spawn();
      break;
    case "close and restart":
      model.expectOutcome("close", server.engine.close(), () => {
        if (server.process.state !== "dead") model.kill(server);
      });
      if (model.servers.length < 4) model.spawn();
  }
};

type Move = Extract<Act, { readonly do: "move" }>["move"];

const move = (model: Model, execution: FakeExecution, what: Move): void => {
  const { backend } = model;
  if (what === "reappear") backend.reappear(execution);
  if (hasStopped(execution) || backend.hasVanished(execution)) return;
  switch (what) {
    case "run":
      execution.run();
      break;
    case "progress":
      execution.progress({ done: (execution.snapshot.progress?.done ?? 0) + 1, total: 9 });
      break;
    case "ask":
      execution.ask({ name: "plain" });
      break;
    case "ask with schema":
      execution.ask({ name: "schema", schema: { type: "object", required: ["n"] } });
      break;
    case "ask with deadline":
      execution.ask({ name: "deadline", expiresAt: model.world.now() + 15_000, secret: null });
      break;
    case "ask with heartbeat":
      execution.ask({ name: "beat", heartbeatMs: 12_000 });
      break;
    case "withdraw":
      execution.withdraw();
      break;
    case "succeed":
      execution.succeed({ by: execution.id });
      break;
    case "succeed with stream":
      execution.succeedWithStream(streamed);
      break;
    case "fail":
      execution.fail("it broke");
      break;
    case "stop":
      execution.stop("by hand");
      break;
    case "vanish":
    case "vanish for good":
      // Who cannot look never learns of it.
      if (model.servers.some(({ adapter }) => adapter.inspect !== undefined))
        backend.vanish(execution, what === "vanish for good");
  }
};
