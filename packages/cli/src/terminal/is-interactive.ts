/** Whether there is a person to ask: questions are read from stdin and shown on stderr. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;
