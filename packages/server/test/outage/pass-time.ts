import type { FakeClock } from "@taskbridge/testkit";
import { eventually } from "../serve.ts";

/** Lets time pass until it is true. */
export const passTimeUntil = (clock: FakeClock, isTrue: () => unknown): Promise<void> =>
  eventually(async () => {
    await clock.advance(200);
    return isTrue();
  });

/** What comes of the work, for which time passes meanwhile. */
export const whileTimePasses = async <Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> => {
  let isDone = false;
  const note = (): void => {
    isDone = true;
  };
  work.then(note, note);
  await passTimeUntil(clock, () => isDone);
  return work;
};
