import type { ExecutionsClient } from "./sdk.ts";

type Auth = ExecutionsClient["auth"];

/**
 * For local engines: no credentials of anybody's, but a bearer token for those that ask for one. What is refused is thrown, as Google's
 * own authentication does. `timeoutMs`: a request is given up after this long.
 */
export const localAuth = (timeoutMs: number): Auth => {
  const headers = (): Headers => new Headers({ authorization: "Bearer local" });
  const send: typeof fetch = async (url, init) => {
    const sent = new Headers(init?.headers);
    for (const [name, value] of headers()) sent.set(name, value);
    const limits = [AbortSignal.timeout(timeoutMs), init?.signal].filter((signal) => signal instanceof AbortSignal);
    const response = await fetch(url, { ...init, headers: sent, signal: AbortSignal.any(limits) });
    if (response.ok) return response;
    const { status, headers: responseHeaders } = response;
    throw Object.assign(new Error(await response.text()), { status, response: { headers: responseHeaders } });
  };
  const client = { getRequestHeaders: async () => headers(), fetch: send };
  // Google's type is a class with private members.
  return {
    ...client,
    getClient: async () => client,
    getUniverseDomain: async () => "googleapis.com",
  } as unknown as Auth;
};
