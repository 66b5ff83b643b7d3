const pollMs = 10;

/**
 * Asks a server that was just started until it answers.
 * @param answers Whether it is there and ready. Must not hang.
 * @throws When it ends or does not answer in time.
 */
export const untilItAnswers = async (
  name: string,
  ended: Promise<unknown>,
  limitMs: number,
  answers: () => Promise<boolean>,
): Promise<void> => {
  const deadline = Date.now() + limitMs;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!(await answers())) {
    if (hasEnded) throw new Error(`the ${name} server ended as soon as it was started`);
    if (Date.now() > deadline) throw new Error(`the ${name} server did not answer within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
};
