import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import type { Clock } from "../../../src/index.ts";

/** One process of a server. `paused`: stopped by a signal; it goes on later and knows nothing of the time between. */
export interface Process {
  readonly name: string;
  state: "running" | "paused" | "dead";
}

/**
 * Time, and the order in which everything happens. Whatever a process asks of the outside waits here twice, before it
 * takes effect and before its answer is heard, until the schedule lets it go on: so a process can die or be paused at
 * each of these points, and calls of all processes mix in any order.
 */
export interface World {
  now(): number;
  clockOf(process: Process): Clock;
  /**
   * Runs `act` for a process. Never settles once the process is dead. `isSent`: what it asks is on its way at once, so that
   * a pause of the process no longer holds it up.
   */
  pass<T>(process: Process, act: () => T | Promise<T>, isSent?: boolean): Promise<T>;
  /** Resolves after `delayMs`, if the process still lives then, paused or not. */
  pause(process: Process, delayMs: number): Promise<void>;
  kill(process: Process): void;
  /** Lets at most this many waiting calls go on, and waits for what they lead to. */
  run(maxSteps: number): Promise<void>;
  /** Moves time; at each instant at which something falls due, at most `maxSteps` waiting calls go on. */
  advance(ms: number, maxSteps: number): Promise<void>;
}

interface Waiting {
  readonly process: Process;
  readonly isSent: boolean;
  readonly resolve: () => void;
}

interface Appointment {
  readonly at: number;
  readonly process: Process;
  readonly isSent: boolean;
  readonly action: () => void;
}

/** A world that has not come to rest after so many steps never will. */
const maxStepsInALife = 60_000;

/** Lets every chain of promises run to where it waits for the world. */
const settle = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Whole numbers from 0 to 2³²−1; seed 0 gives only zeros, so that the shrunk schedule is: first come, first served. */
const numbersFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state >>> 3;
  };
};

export const createWorld = (scheduleSeed: number): World => {
  let time = Date.UTC(2026, 0, 1);
  let steps = 0;
  const next = numbersFrom(scheduleSeed);
  let waiting: Waiting[] = [];
  let appointments: Appointment[] = [];

  const goesOn = ({ process, isSent }: Waiting | Appointment): boolean => process.state === "running" || isSent;

  const turn = (process: Process, isSent = false): Promise<void> =>
    new Promise((resolve) => {
      if (process.state !== "dead") waiting.push({ process, isSent, resolve });
    });

  const schedule = (process: Process, delayMs: number, action: () => void, isSent = false): (() => void) => {
    const appointment = { at: time + Math.max(0, delayMs), process, isSent, action };
    if (process.state !== "dead") appointments.push(appointment);
    return () => {
      const index = appointments.indexOf(appointment);
      if (index >= 0) appointments.splice(index, 1);
    };
  };

  const step = async (): Promise<boolean> => {
    const ready = waiting.filter(goesOn);
    const chosen = ready[next() % Math.max(ready.length, 1)];
    if (chosen === undefined) return false;
    if (++steps > maxStepsInALife) throw new Error(`the engine did not come to rest in ${maxStepsInALife} steps`);
    waiting.splice(waiting.indexOf(chosen), 1);
    chosen.resolve();
    await settle();
    return true;
  };

  const run = async (maxSteps: number): Promise<void> => {
    await settle();
    for (let count = 0; count < maxSteps && (await step()); count++);
  };

  const nextUntil = (end: number): Appointment | undefined => {
    let found: Appointment | undefined;
    for (const appointment of appointments) {
      if (!goesOn(appointment) || appointment.at > end) continue;
      if (found === undefined || appointment.at < found.at) found = appointment;
    }
    return found;
  };

  return {
    now: () => time,
    clockOf: (process) => ({
      now: () => time,
      schedule: (delayMs, action) => schedule(process, delayMs, action),
    }),
    pass: async (process, act, isSent) => {
      await turn(process, isSent);
      let answer: () => Awaited<ReturnType<typeof act>>;
      try {
        const result = await act();
        answer = () => result;
      } catch (error) {
        answer = () => {
          throw error;
        };
      }
      // Not always, for speed: the answer is also heard at once.
      if (next() % 2 === 1 || process.state !== "running") await turn(process);
      return answer();
    },
    pause: (process, delayMs) => new Promise((resolve) => void schedule(process, delayMs, resolve, true)),
    kill: (process) => {
      process.state = "dead";
      waiting = waiting.filter((entry) => entry.process !== process);
      appointments = appointments.filter((entry) => entry.process !== process);
    },
    run,
    advance: async (ms, maxSteps) => {
      const end = time + ms;
      await run(maxSteps);
      for (let due = nextUntil(end); due !== undefined; due = nextUntil(end)) {
        if (++steps > maxStepsInALife) throw new Error(`the engine did not come to rest in ${maxStepsInALife} steps`);
        appointments.splice(appointments.indexOf(due), 1);
        time = Math.max(time, due.at);
        due.action();
        await run(maxSteps);
      }
      time = Math.max(time, end);
      // One turn of the event loop, so that a rejection that nobody handles is reported.
      await turnOfTheLoop();
    },
  };
};
