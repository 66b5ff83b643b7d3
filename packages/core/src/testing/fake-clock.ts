import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../contract/clock.ts";

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /**
   * Moves time on by `ms`, running what falls due on the way: earliest first, those of one instant in the order they were
   * scheduled, each at its own instant and settled before the next, so that what an action schedules also runs in time.
   */
  advance(ms: number): Promise<void>;
  /** Lets promises that wait for no timer and no slow I/O settle, without moving time. */
  settle(): Promise<void>;
  /** How many actions are waiting. */
  readonly scheduled: number;
}

interface Appointment {
  readonly at: number;
  readonly action: () => void;
}

/** One turn drains every promise chain; more turns let chains through that themselves yield to the event loop. */
const turnsToSettle = 3;

/** A clock for tests. `startAt` (epoch milliseconds) defaults to an instant in 2026. */
export const fakeClock = (startAt: number = Date.UTC(2026, 0, 1)): FakeClock => {
  let time = startAt;
  const appointments = new Set<Appointment>();

  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < turnsToSettle; turns++) await turn();
  };

  const nextUntil = (end: number): Appointment | undefined => {
    let next: Appointment | undefined;
    for (const appointment of appointments) {
      // A set iterates in insertion order, so the strict comparison keeps ties in the order they were scheduled.
      if (appointment.at <= end && (next === undefined || appointment.at < next.at)) next = appointment;
    }
    return next;
  };

  return {
    now: () => time,
    schedule: (delayMs, action) => {
      const appointment = { at: time + Math.max(0, delayMs), action };
      appointments.add(appointment);
      return () => {
        appointments.delete(appointment);
      };
    },
    settle,
    advance: async (ms) => {
      const end = time + ms;
      await settle();
      for (let next = nextUntil(end); next !== undefined; next = nextUntil(end)) {
        appointments.delete(next);
        time = Math.max(time, next.at);
        next.action();
        await settle();
      }
      time = Math.max(time, end);
    },
    get scheduled() {
      return appointments.size;
    },
  };
};
