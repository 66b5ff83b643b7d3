import type { AuthInfo } from "@modelcontextprotocol/server";
import { type Access, asOwnerId, localOwner, type OwnerId } from "@taskbridge/core";
import type { Identity } from "./auth/authenticator.ts";

/** Whose tasks a request is about. Null: a server without owners, where the ID alone grants access. */
export type Owner = OwnerId | null;

/** `local`: everybody without verified auth is one owner. `none`: they have none. */
export type OwnerPolicy = "local" | "none";

export const toAccess = (owner: Owner): Access => ({ owner });

const ownerKey = "taskbridge/owner";

/** Who is behind a verified identity. The session never counts. */
export const toOwner = ({ issuer, subject, clientId }: Identity): OwnerId =>
  asOwnerId(`${issuer}|${subject ?? `client:${clientId ?? ""}`}`);

/** What the MCP SDK hands through to handlers. The token itself stays behind. */
export const toAuthInfo = (identity: Identity): AuthInfo => ({
  token: "",
  clientId: identity.clientId ?? identity.subject ?? "",
  scopes: [...(identity.scopes ?? [])],
  ...(identity.expiresAt === undefined ? {} : { expiresAt: Math.floor(identity.expiresAt / 1000) }),
  extra: { [ownerKey]: toOwner(identity) },
});

/**
 * The owner of a request. Auth that another framework has verified is read by its usual names: `extra.iss` or
 * `extra.issuer`, `extra.sub` or `extra.subject`, else the client ID.
 */
export const readOwner = (authInfo: AuthInfo | undefined, policy: OwnerPolicy): Owner => {
  if (authInfo === undefined) return policy === "local" ? localOwner : null;
  const known = authInfo.extra?.[ownerKey];
  if (typeof known === "string") return asOwnerId(known);
  const subject = text(authInfo.extra?.sub) ?? text(authInfo.extra?.subject);
  return toOwner({
    issuer: text(authInfo.extra?.iss) ?? text(authInfo.extra?.issuer) ?? "auth",
    ...(subject === undefined ? {} : { subject }),
    clientId: authInfo.clientId,
  });
};

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
