import { BridgeError } from "@taskbridge/core";

/** The generations of MCP tasks that are served, by name; `none`: hosts that know no tasks. */
export type WireName = "2026-07-28" | "2025-11-25" | "none";

/** All that are served. */
export const defaultWires: readonly WireName[] = ["2026-07-28", "2025-11-25", "none"];

/** Which generations are served. Throws `misconfigured` with `data.path` for one that is not served, and for none at all. */
export const parseWires = (wires: readonly string[] = defaultWires): ReadonlySet<WireName> => {
  if (wires.length === 0) throw misconfigured("server.wires", `at least one of ${defaultWires.join(", ")} is needed`);
  for (const [index, wire] of wires.entries()) {
    if ((defaultWires as readonly string[]).includes(wire)) continue;
    const path = `server.wires[${index}]`;
    throw misconfigured(path, `"${wire}" is not served by this version, which serves ${defaultWires.join(", ")}`);
  }
  return new Set(wires as readonly WireName[]);
};

const misconfigured = (path: string, message: string): BridgeError =>
  new BridgeError("misconfigured", `${path}: ${message}`, { data: { path } });
