/** Waits until there is a result; the time is only there to end a test that fails. What is dear to ask is asked less often. */
export const until = async <Value>(
  what: string,
  probe: () => Promise<Value | undefined>,
  deadlineMs = 15_000,
  everyMs = 20,
): Promise<Value> => {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
};
