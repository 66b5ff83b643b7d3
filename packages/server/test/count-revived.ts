import type { ServerLog } from "../src/index.ts";

/** A log, and how many sessions its server has gone on with that began elsewhere or had made room. */
export const countRevived = (): { readonly log: ServerLog; revived(): number } => {
  let revived = 0;
  const ignore = (): void => {};
  const debug = (_fields: object, message: string): void => {
    if (message === "a session goes on here") revived += 1;
  };
  return { log: { debug, info: ignore, warn: ignore, error: ignore }, revived: () => revived };
};
