import { readCapabilities, type SessionCapabilities } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Owner } from "../caller.ts";
import type { Sealer } from "../sealer.ts";
import { negotiateRevision } from "./negotiate-revision.ts";

/** What a server goes on needing of an `initialize`. Its client's name and whatever else it declares are of no use later. */
export interface Introduction {
  readonly revision: string;
  readonly capabilities: SessionCapabilities;
}

export const readIntroduction = (params: {
  readonly protocolVersion?: unknown;
  readonly capabilities?: unknown;
}): Introduction => ({
  revision: negotiateRevision(params.protocolVersion),
  capabilities: readCapabilities(params.capabilities),
});

/**
 * The ID of a new session, in which the client keeps its own introduction: whichever replica it brings it to can go on with
 * the session. Good for this owner alone. Visible ASCII, about 200 characters however much was declared.
 */
export const mintSessionId = (sealer: Sealer, owner: Owner, { revision, capabilities }: Introduction): string => {
  const declares = Object.entries(capabilities).flatMap(([name, isDeclared]) => (isDeclared ? [name] : []));
  return sealer.seal({ format, revision, declares }, about(owner));
};

/** Undefined for an ID that is not of this owner's making here. */
export const readSessionId = (sealer: Sealer, owner: Owner, id: string): Introduction | undefined => {
  const kept = sealer.open(id, about(owner));
  if (!isKept(kept)) return undefined;
  const { revision, declares } = kept;
  const none = Object.keys(readCapabilities(undefined));
  const flags = none.map((name) => [name, declares.includes(name)] as const);
  return { revision, capabilities: Object.fromEntries(flags) as unknown as SessionCapabilities };
};

/** Raised when what is kept means something else: a session of another format is unknown, and its client begins anew. */
const format = 1;

const about = (owner: Owner): string => `session of ${JSON.stringify(owner)}`;

const isKept = (kept: unknown): kept is { readonly revision: string; readonly declares: readonly string[] } =>
  typeof kept === "object" && kept !== null && "format" in kept && kept.format === format;
