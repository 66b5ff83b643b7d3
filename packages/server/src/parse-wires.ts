import { BridgeError } from "@taskbridge/core";

const served = ["2026-07-28", "none"] as const;

/** Which generations are served. Throws `misconfigured` with `data.path` for one that is unknown or not served yet. */
export const parseWires = (
  wires: readonly string[] = served,
): { readonly tasks: boolean; readonly untasked: boolean } => {
  if (wires.length === 0) throw misconfigured("server.wires", `at least one of ${served.join(", ")} is needed`);
  for (const [index, wire] of wires.entries()) {
    const path = `server.wires[${index}]`;
    if ((served as readonly string[]).includes(wire)) continue;
    throw misconfigured(path, `"${wire}" is not served by this version, which serves ${served.join(", ")}`);
  }
  return { tasks: wires.includes("2026-07-28"), untasked: wires.includes("none") };
};

const misconfigured = (path: string, message: string): BridgeError =>
  new BridgeError("misconfigured", `${path}: ${message}`, { data: { path } });
