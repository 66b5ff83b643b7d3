import type { ExecutionsClient } from "./sdk.ts";

type Auth = ExecutionsClient["auth"];

/**
 * Sees to it that no request by this authentication, which must be ours, follows a redirect: what stands before Google would have the
 * argument sent elsewhere, and Google's HTTP client breaks the process at the second one. Returns what gives up all that are under way.
 */
export const guardRequests = (auth: Auth): (() => void) => {
  const underWay = new Set<AbortController>();
  const send = auth.fetch.bind(auth) as (url: string | URL, init: RequestInit) => ReturnType<Auth["fetch"]>;
  const guarded = async (url: string | URL, init: RequestInit = {}): Promise<unknown> => {
    // One for each: a signal that outlives them would remember all of them.
    const giveUp = new AbortController();
    underWay.add(giveUp);
    const signal = init.signal == null ? giveUp.signal : AbortSignal.any([init.signal, giveUp.signal]);
    try {
      return await send(url, { ...init, signal, redirect: "error" });
    } finally {
      underWay.delete(giveUp);
    }
  };
  auth.fetch = guarded as Auth["fetch"];
  return () => {
    for (const giveUp of underWay) giveUp.abort();
  };
};
