import { createHash } from "node:crypto";
import { invalidToken } from "./aws-error.ts";

const tokenMs = 86_400_000;

interface Position {
  /** Of the request that the token belongs to. */
  readonly digest: string;
  readonly after: number;
  readonly expiresAt: number;
}

/** A page token holds for 24 hours, and for the same request only. */
export interface Pages {
  /** After which item this page begins. */
  readonly after: number | undefined;
  next(after: number): string;
}

export const readPage = (request: unknown, token: string | undefined, now: number): Pages => {
  const digest = createHash("sha256").update(JSON.stringify(request)).digest("base64url");
  return {
    after: token === undefined ? undefined : readToken(token, digest, now),
    next: (after) => {
      const position: Position = { digest, after, expiresAt: now + tokenMs };
      return Buffer.from(JSON.stringify(position)).toString("base64");
    },
  };
};

const readToken = (token: string, digest: string, now: number): number => {
  let position: Partial<Position> = {};
  try {
    position = JSON.parse(Buffer.from(token, "base64").toString());
  } catch {
    throw invalidToken();
  }
  if (position.digest !== digest || position.after === undefined || (position.expiresAt ?? 0) <= now)
    throw invalidToken();
  return position.after;
};
