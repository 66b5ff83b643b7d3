import type { Payload } from "@taskbridge/core/store";
import { toKey } from "./to-key.ts";

/** Payloads as the functions of the schema take them: names, sizes, and the bytes one behind the other. The last of a name counts. */
export const toPayloadParameters = (payloads: readonly Payload[]): readonly [string[], number[], Buffer] => {
  const byName = new Map(payloads.map(({ name, bytes }) => [toKey(name), bytes]));
  const all = [...byName.values()];
  return [[...byName.keys()], all.map(({ length }) => length), Buffer.concat(all)];
};
