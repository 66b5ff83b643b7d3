/** Runs some work when its turn has come. */
export type InTurn = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** At most so many at once, in the order in which they come. Who gives up waiting is passed over by work that ends at once. */
export const inTurn = (max: number): InTurn => {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
};
