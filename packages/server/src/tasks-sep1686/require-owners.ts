import { misconfigured } from "@taskbridge/core";

/**
 * IDs that clients choose may be the same, or guessed: only their owner keeps them apart. Throws `misconfigured` where the
 * draft is served to callers who have none.
 */
export const requireOwners = (wires: readonly string[] | undefined, why: string): void => {
  const index = wires?.indexOf("sep-1686") ?? -1;
  if (index === -1) return;
  throw misconfigured(`wires[${index}]`, `"sep-1686" lets clients choose IDs, which needs owners, but ${why}`);
};
