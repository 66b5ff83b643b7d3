import { misconfigured } from "./misconfigured.ts";

/**
 * Throws `misconfigured` at the first member of a value that is none of the known. `at`: what stands before its name in the
 * path, such as `options.`; empty at the top. `problem`: "unknown option".
 */
export const refuseOtherMembers = (value: object, known: readonly string[], at: string, problem: string): void => {
  for (const name of Object.keys(value)) if (!known.includes(name)) throw misconfigured(`${at}${name}`, problem);
};
