import type { AdapterUnderTest, Harness } from "./adapter-contract-harness.ts";

/** Optional verbs of the contract that some case needs. */
const verbs = [
  "inspect",
  "cancel",
  "answer",
  "heartbeat",
  "find",
  "watch",
  "receive",
  "readOutput",
  "forget",
  "discover",
  "check",
  "close",
] as const;

/**
 * What a case may need: a verb; a trait (`progress`, `idempotent start`); a hook of the test set-up (`journal`, `stall`); or
 * `resume`, a `watch` that gives cursors, which is the one thing that cannot be read off the adapter.
 */
export type AdapterFeature = (typeof verbs)[number] | "progress" | "idempotent start" | "journal" | "stall" | "resume";

export interface ContractCase {
  readonly name: string;
  readonly needs?: readonly AdapterFeature[];
  run(harness: Harness): Promise<void>;
}

/** Features that can be seen to be missing. */
export const missingFeatures = ({ adapter, journal, stall }: AdapterUnderTest): readonly AdapterFeature[] => [
  ...verbs.filter((verb) => adapter[verb] === undefined),
  ...(adapter.traits.progress === "none" ? (["progress"] as const) : []),
  ...(adapter.traits.start.kind === "idempotent" ? [] : (["idempotent start"] as const)),
  ...(journal === undefined ? (["journal"] as const) : []),
  ...(stall === undefined ? (["stall"] as const) : []),
];
