import { createHash, timingSafeEqual } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { type Clock, misconfigured, systemClock } from "@taskbridge/core";
import * as z from "zod";
import { type Authenticator, type AuthOutcome, type Identity, readBearer } from "./authenticator.ts";

/** The file is looked at for changes at most this often (milliseconds). */
const recheckMs = 1_000;

const entrySchema = z.strictObject({
  // RFC 6750 section 2.1: nothing else can be sent as a bearer token.
  token: z.string().regex(/^[\w.~+/-]+=*$/, "letters, digits and -._~+/ are needed"),
  subject: z.string().min(1),
  client: z.string().min(1).optional(),
  scopes: z.array(z.string()).optional(),
  expiresAt: z.union([z.iso.datetime({ offset: true }), z.iso.date(), z.int().positive()]).optional(),
});

interface KnownToken {
  readonly hash: Buffer;
  readonly identity: Identity;
}

/**
 * Bearer tokens from a JSON list of `{ token, subject, client?, scopes?, expiresAt? }` (`expiresAt`: ISO 8601, or
 * seconds since 1970 as in a JWT). Read again when the file changes; one that has become unreadable serves nobody until
 * it is mended. Only hashes are kept.
 */
export const tokenFile = (path: string, options: { readonly clock?: Clock } = {}): Authenticator => {
  const clock = options.clock ?? systemClock;
  let known: readonly KnownToken[] = [];
  let stamp = "";
  let checkedAt = Number.NEGATIVE_INFINITY;
  const refresh = async (): Promise<void> => {
    if (clock.now() - checkedAt < recheckMs) return;
    const found = await stampOf(path);
    if (found !== stamp) {
      known = await readTokens(path);
      stamp = found;
    }
    checkedAt = clock.now();
  };
  return {
    open: refresh,
    authenticate: async (headers) => {
      await refresh();
      const token = readBearer(headers.authorization);
      if (token === undefined) return refuse(headers.authorization);
      const match = findToken(known, token);
      if (match === undefined) return { refused: { error: "invalid_token", description: "The token is not known" } };
      const { expiresAt } = match.identity;
      if (expiresAt !== undefined && expiresAt <= clock.now()) {
        return { refused: { error: "invalid_token", description: "The token has expired" } };
      }
      return { identity: match.identity };
    },
  };
};

const refuse = (authorization: string | undefined): AuthOutcome => ({
  refused:
    authorization === undefined
      ? { description: "A bearer token is needed" }
      : { error: "invalid_request", description: "A bearer token is needed" },
});

/** Compares with every entry, so that the time taken tells nothing about which one was close. */
const findToken = (known: readonly KnownToken[], token: string): KnownToken | undefined => {
  const hash = hashOf(token);
  let match: KnownToken | undefined;
  for (const entry of known) if (timingSafeEqual(entry.hash, hash)) match = entry;
  return match;
};

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

const stampOf = async (path: string): Promise<string> => {
  const { mtimeMs, size, ino } = await stat(path).catch((error: unknown) => {
    throw misconfigured("auth.tokens", `${path} cannot be read: ${reasonOf(error)}`);
  });
  return `${mtimeMs} ${size} ${ino}`;
};

const readTokens = async (path: string): Promise<readonly KnownToken[]> => {
  const entries = parseList(path, await readFile(path, "utf8"));
  const tokens = entries.map((entry, index) => parseEntry(entry, `auth.tokens[${index}]`));
  const hashes = new Map<string, number>();
  for (const [index, { hash }] of tokens.entries()) {
    const earlier = hashes.get(hash.toString("hex"));
    if (earlier !== undefined)
      throw misconfigured(`auth.tokens[${index}].token`, `the same token as auth.tokens[${earlier}]`);
    hashes.set(hash.toString("hex"), index);
  }
  return tokens;
};

const parseList = (path: string, text: string): readonly unknown[] => {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which holds tokens.
    throw misconfigured("auth.tokens", `${path} is not JSON`);
  }
  if (!Array.isArray(list)) throw misconfigured("auth.tokens", `${path} must hold a list`);
  return list;
};

const parseEntry = (entry: unknown, path: string): KnownToken => {
  const parsed = entrySchema.safeParse(entry);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const where = [path, ...(issue?.path ?? []).map(String)].join(".");
    throw misconfigured(where, issue?.message ?? "not an entry");
  }
  const { token, subject, client, scopes, expiresAt } = parsed.data;
  return {
    hash: hashOf(token),
    identity: {
      issuer: "tokens",
      subject,
      ...(client === undefined ? {} : { clientId: client }),
      ...(scopes === undefined ? {} : { scopes }),
      ...(expiresAt === undefined ? {} : { expiresAt: toEpochMs(expiresAt) }),
    },
  };
};

const toEpochMs = (instant: string | number): number =>
  typeof instant === "number" ? instant * 1000 : Date.parse(instant);

const reasonOf = (error: unknown): string => (error as { code?: string }).code ?? "unknown error";
