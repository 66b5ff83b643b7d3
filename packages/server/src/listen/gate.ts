/** Lets one waiter sleep until something has changed. */
export interface Gate {
  /** Taken before looking: a change between the look and the wait still wakes. */
  next(): Promise<void>;
  open(): void;
}

export const createGate = (): Gate => {
  let wake: () => void = () => {};
  return {
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    open: () => wake(),
  };
};
