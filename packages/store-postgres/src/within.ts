/** What a promise resolves with, or undefined when that takes longer. */
export const within = async <Value>(promise: Promise<Value>, limitMs: number): Promise<Value | undefined> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.max(0, limitMs));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
};
