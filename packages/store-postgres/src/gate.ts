/** Lets in so many at a time, the others in the order in which they came. */
export interface Gate {
  /** Resolves with how to leave; with undefined when there was no place within `limitMs`. */
  enter(limitMs: number): Promise<(() => void) | undefined>;
}

export const createGate = (slots: number): Gate => {
  let free = slots;
  const waiting: (() => void)[] = [];
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return {
    enter: (limitMs) =>
      new Promise((resolve) => {
        if (free > 0) {
          free -= 1;
          resolve(leave);
          return;
        }
        const enterNow = (): void => {
          clearTimeout(timer);
          resolve(leave);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(enterNow), 1);
          resolve(undefined);
        }, limitMs);
        waiting.push(enterNow);
      }),
  };
};
