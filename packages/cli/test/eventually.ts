/** Waits until something is true; half a minute at most, for a busy machine. */
export const eventually = async (isTrue: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 30_000;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within 30 s: ${isTrue}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
