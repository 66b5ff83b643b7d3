import { access, type Fleet, type FleetOptions } from "./fleet.ts";

/** Something that costs calls. */
export interface CostCase {
  readonly name: string;
  readonly fleet: FleetOptions;
  /** What must have happened before; not counted. Resolves with the ID of the task that it is about, if any. */
  readonly given?: (fleet: Fleet) => Promise<string>;
  readonly when: (fleet: Fleet, taskId: string) => Promise<unknown>;
}

const one: FleetOptions = { replicas: 1, pushes: false };
const three: FleetOptions = { replicas: 3, pushes: false };
const pushed: FleetOptions = { replicas: 3, pushes: true };

/** Others look half a second after a change what may be due. */
const afterwardsMs = 1_000;
const minuteMs = 60_000;

const running = async (fleet: Fleet): Promise<string> => {
  const taskId = await fleet.start();
  await fleet.clock.advance(afterwardsMs);
  return taskId;
};
const justInspected = async (fleet: Fleet): Promise<string> => {
  const taskId = await running(fleet);
  await fleet.engine.readTask(taskId, access);
  return taskId;
};
const ended = async (fleet: Fleet): Promise<string> => {
  const taskId = await running(fleet);
  fleet.backend.of().succeed({ done: true });
  await fleet.engine.readTask(taskId, access);
  await fleet.clock.settle();
  return taskId;
};
const poll = ({ engine }: Fleet, taskId: string): Promise<unknown> => engine.readTask(taskId, access);
const start = async (fleet: Fleet): Promise<void> => {
  await fleet.start();
  await fleet.clock.advance(afterwardsMs);
};
const cancel = async (fleet: Fleet, taskId: string): Promise<void> => {
  await fleet.engine.cancelTask(taskId, access, { reason: "enough", isFinal: false });
  await fleet.clock.advance(afterwardsMs);
};
const end = async (fleet: Fleet): Promise<void> => {
  fleet.backend.of().succeed({ done: true });
  await fleet.clock.advance(afterwardsMs);
};
const endAndPoll = async (fleet: Fleet, taskId: string): Promise<void> => {
  fleet.backend.of().succeed({ done: true });
  await poll(fleet, taskId);
  await fleet.clock.advance(afterwardsMs);
};
const pollEverywhere = async (fleet: Fleet, taskId: string): Promise<void> => {
  for (let second = 0; second < minuteMs / 1_000; second++) {
    const polls = fleet.engines.map((engine) => engine.readTask(taskId, access));
    await fleet.clock.advance(1_000);
    await Promise.all(polls);
  }
};

/** What a server does for its callers, and by itself. */
export const costCases: readonly CostCase[] = [
  { name: "a start, one server", fleet: one, when: start },
  { name: "a start, three servers", fleet: three, when: start },
  { name: "a poll of a running task, looked at within its interval", fleet: three, given: justInspected, when: poll },
  { name: "a poll of a running task, to be looked at again", fleet: three, given: running, when: poll },
  { name: "a poll that finds the end", fleet: three, given: running, when: endAndPoll },
  { name: "an end that the backend pushes", fleet: pushed, given: running, when: end },
  { name: "a poll of an ended task, with its result", fleet: three, given: ended, when: poll },
  { name: "a cancel", fleet: three, given: running, when: cancel },
  {
    name: "a task's expiry",
    fleet: one,
    given: async (fleet) => {
      const taskId = await ended(fleet);
      await fleet.clock.advance(3_599_000);
      return taskId;
    },
    when: ({ clock }) => clock.advance(2_000),
  },
  { name: "a minute of an idle server, alone", fleet: one, when: ({ clock }) => clock.advance(minuteMs) },
  { name: "a minute of three idle servers", fleet: three, when: ({ clock }) => clock.advance(minuteMs) },
  {
    name: "a minute of three idle servers, the backend pushes",
    fleet: pushed,
    when: ({ clock }) => clock.advance(minuteMs),
  },
  {
    name: "a minute of a running task that nobody reads",
    fleet: three,
    given: running,
    when: ({ clock }) => clock.advance(minuteMs),
  },
  {
    name: "a minute of a running task, each of three servers polled each second",
    fleet: three,
    given: running,
    when: pollEverywhere,
  },
];
