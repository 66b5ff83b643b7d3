import { misconfigured } from "@taskbridge/core";

/** The generations of MCP tasks that can be served, by name; `sep-1686`: the draft before them; `none`: hosts that know no tasks. */
export type WireName = "2026-07-28" | "2025-11-25" | "sep-1686" | "none";

/** Those that are served unless told otherwise. */
export const defaultWires: readonly WireName[] = ["2026-07-28", "2025-11-25", "none"];

const allWires: readonly WireName[] = [...defaultWires, "sep-1686"];

/** Which generations are served. Throws `misconfigured` with `data.path` for one that is not served, and for none at all. */
export const parseWires = (wires: readonly string[] = defaultWires): ReadonlySet<WireName> => {
  if (wires.length === 0) throw misconfigured("wires", `at least one of ${allWires.join(", ")} is needed`);
  for (const [index, wire] of wires.entries()) {
    if ((allWires as readonly string[]).includes(wire)) continue;
    const path = `wires[${index}]`;
    throw misconfigured(path, `"${wire}" is not served by this version, which serves ${allWires.join(", ")}`);
  }
  return new Set(wires as readonly WireName[]);
};
