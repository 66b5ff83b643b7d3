import { hasTaskServerCapabilityV2 } from "@modelcontextprotocol/ext-tasks/core/v2";
import { TaskClientError } from "./client-error.ts";
import type { Clock } from "./clock.ts";
import type { Connection } from "./connection.ts";
import type { QuestionInbox } from "./question-inbox.ts";
import type { WireName } from "./task.ts";
import { coreTasksCapability, coreTasksWire } from "./wire/core-tasks-wire.ts";
import { extensionWire } from "./wire/extension-wire.ts";
import { type FramingOptions, framing2026 } from "./wire/framing-2026.ts";
import { plainWire } from "./wire/plain-wire.ts";
import { sep1686Wire } from "./wire/sep1686-wire.ts";
import type { Wire } from "./wire.ts";

export interface WireParts {
  readonly connection: Connection;
  readonly inbox: QuestionInbox;
  readonly framing: FramingOptions;
  readonly clock: Clock;
  readonly noticeTimeoutMs: number;
}

/** The wires of one connection, each made when it is first used. */
export interface Wires {
  /**
   * The best that server and connection have; with an ID of the caller's own, the one that carries it. Throws
   * `unsupported` where the wanted one cannot be had.
   */
  choose(wanted: WireName | "auto", mintedId: boolean): Wire;
}

export const wiresOf = ({ connection, inbox, framing, clock, noticeTimeoutMs }: WireParts): Wires => {
  const made = new Map<WireName, Wire>();
  const make = (name: WireName): Wire => {
    if (name === "2026-07-28") return extensionWire(connection, framing, clock);
    if (name === "sep-1686") return sep1686Wire(connection, inbox, { clock, noticeTimeoutMs });
    if (name === "none") return plainWire(connection, connection.modern ? framing2026(framing, false) : undefined);
    const capability = coreTasksCapability(connection.capabilities());
    if (capability === undefined) throw unsupported("the server does not offer the tasks of 2025-11-25");
    return coreTasksWire(connection, capability, { inbox, clock });
  };
  const get = (name: WireName): Wire => {
    const wire = made.get(name) ?? make(name);
    made.set(name, wire);
    return wire;
  };
  return {
    choose: (wanted, mintedId) => {
      const has = {
        "2026-07-28": connection.modern && hasTaskServerCapabilityV2(connection.capabilities()),
        "2025-11-25": !connection.modern && coreTasksCapability(connection.capabilities()) !== undefined,
        "sep-1686": !connection.modern,
        none: true,
      };
      const order: readonly WireName[] = mintedId ? ["sep-1686"] : ["2026-07-28", "2025-11-25", "sep-1686", "none"];
      const name = wanted === "auto" ? order.find((wire) => has[wire]) : wanted;
      if (mintedId && name !== "sep-1686") {
        throw unsupported(
          'a taskId of one\'s own needs sep-1686, which is spoken on legacy connections only (SDK 2: versionNegotiation: { mode: "legacy" })',
        );
      }
      if (name === undefined || !has[name]) throw unsupported(`the server does not offer ${name} on this connection`);
      return get(name);
    },
  };
};

const unsupported = (message: string): TaskClientError => new TaskClientError("unsupported", message);
