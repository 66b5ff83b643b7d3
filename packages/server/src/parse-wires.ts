import { BridgeError } from "@taskbridge/core";

/** The generations of MCP tasks that are served, by name; `none`: hosts that know no tasks. */
export type WireName = "2026-07-28" | "2025-11-25" | "none";

const served: readonly WireName[] = ["2026-07-28", "2025-11-25", "none"];

/** Which generations are served. Throws `misconfigured` with `data.path` for one that is unknown or not served yet. */
export const parseWires = (wires: readonly string[] = served): ReadonlySet<WireName> => {
  if (wires.length === 0) throw misconfigured("server.wires", `at least one of ${served.join(", ")} is needed`);
  for (const [index, wire] of wires.entries()) {
    if ((served as readonly string[]).includes(wire)) continue;
    const path = `server.wires[${index}]`;
    throw misconfigured(path, `"${wire}" is not served by this version, which serves ${served.join(", ")}`);
  }
  return new Set(wires as readonly WireName[]);
};

const misconfigured = (path: string, message: string): BridgeError =>
  new BridgeError("misconfigured", `${path}: ${message}`, { data: { path } });
