import { createHash } from "node:crypto";
import { invalidArgument } from "./google-error.ts";

/** "Provide this to retrieve the subsequent page. All other parameters must match the call that provided the token." */
export interface Pages {
  /** Where this page begins. */
  readonly from: number | undefined;
  next(from: number): string;
}

/** @param request Everything but the token and the size, which may change from page to page (AIP-158). */
export const readPage = (request: unknown, token: string | null): Pages => {
  const digest = createHash("sha256").update(JSON.stringify(request)).digest("base64url").slice(0, 16);
  return {
    from: token === null || token === "" ? undefined : readToken(token, digest),
    next: (from) => Buffer.from(`${digest}.${from}`).toString("base64url"),
  };
};

const readToken = (token: string, digest: string): number => {
  const [of, from = ""] = Buffer.from(token, "base64url").toString().split(".");
  if (of !== digest || !/^\d+$/.test(from)) throw invalidArgument("The page token is not valid for this request.");
  return Number(from);
};

/** A size of 0 is one that was not given; more than the most is "coerced down to it"; less than 0 is refused (AIP-158). */
export const readPageSize = (text: string | null, usual: number, max: number): number => {
  const size = text === null || text === "" ? 0 : Number(text);
  if (!Number.isInteger(size)) throw invalidArgument(`Invalid value at 'page_size' (TYPE_INT32), "${text}"`);
  if (size < 0) throw invalidArgument("page_size must not be negative");
  return size === 0 ? usual : Math.min(size, max);
};
