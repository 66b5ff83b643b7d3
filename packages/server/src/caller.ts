import type { AuthInfo } from "@modelcontextprotocol/server";
import { type Access, asOwnerId, localOwner, type OwnerId } from "@taskbridge/core";
import type { Identity } from "./auth/authenticator.ts";

/** Whose tasks a request is about. Null: a server without owners, where the ID alone grants access. */
export type Owner = OwnerId | null;

/** `local`: everybody without verified auth is one owner. `none`: they have none. */
export type OwnerPolicy = "local" | "none";

export const toAccess = (owner: Owner): Access => ({ owner });

const ownerKey = "taskbridge/owner";

/**
 * Who is behind a verified identity; undefined when it names nobody. The session never counts. No two identities give the
 * same text: an issuer holds neither a bar nor a space, and a client is told apart from a subject of the same name.
 */
export const toOwner = ({ issuer, subject, clientId }: Identity): OwnerId | undefined => {
  const vouched = issuer.replaceAll(/[|\s%]/g, encodeURIComponent);
  if (subject !== undefined && subject !== "") return asOwnerId(`${vouched}|${subject}`);
  return clientId === undefined || clientId === "" ? undefined : asOwnerId(`${vouched} client|${clientId}`);
};

/** What the MCP SDK hands through to handlers. The token itself stays behind. */
export const toAuthInfo = (identity: Identity, owner: OwnerId): AuthInfo => ({
  token: "",
  clientId: identity.clientId ?? identity.subject ?? "",
  scopes: [...(identity.scopes ?? [])],
  ...(identity.expiresAt === undefined ? {} : { expiresAt: Math.floor(identity.expiresAt / 1000) }),
  extra: { [ownerKey]: owner },
});

/**
 * The owner of a request. Auth that another framework has verified is read by its usual names: `extra.iss` or
 * `extra.issuer`, `extra.sub` or `extra.subject`, else the client ID. One that names nobody has no owner.
 */
export const readOwner = (authInfo: AuthInfo | undefined, policy: OwnerPolicy): Owner => {
  if (authInfo === undefined) return policy === "local" ? localOwner : null;
  const known = authInfo.extra?.[ownerKey];
  if (typeof known === "string") return asOwnerId(known);
  const subject = text(authInfo.extra?.sub) ?? text(authInfo.extra?.subject);
  const owner = toOwner({
    issuer: text(authInfo.extra?.iss) ?? text(authInfo.extra?.issuer) ?? "auth",
    ...(subject === undefined ? {} : { subject }),
    clientId: authInfo.clientId,
  });
  return owner ?? null;
};

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
