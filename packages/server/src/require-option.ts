import { misconfigured } from "@taskbridge/core";

/** Throws `misconfigured`, saying what is needed and what was got, unless an option is good. */
export const requireOption = (isGood: boolean, path: string, needed: string, got: unknown): void => {
  if (!isGood) throw misconfigured(path, `${needed}, got ${JSON.stringify(got)}`);
};
