import type { ExecutionsClient } from "@google-cloud/workflows";

type ClientOptions = NonNullable<ConstructorParameters<typeof ExecutionsClient>[0]>;

export const authorizedFetch = (url: string, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers);
  headers.set("authorization", "Bearer test");
  return fetch(url, { ...init, headers });
};

const localAuth = {
  getUniverseDomain: async () => "googleapis.com",
  getClient: async () => localAuth,
  getRequestHeaders: async () => new Headers({ authorization: "Bearer test" }),
  fetch: authorizedFetch,
};

/** The vendor's own client, over REST to a local endpoint. */
export const localClient = async (port: number): Promise<ExecutionsClient> => {
  // Only where it is wanted: it takes its time.
  const { ExecutionsClient: Client } = await import("@google-cloud/workflows");
  return new Client({
    fallback: true,
    protocol: "http",
    apiEndpoint: "127.0.0.1",
    port,
    // The client wants the whole of GoogleAuth and uses four of its methods.
    auth: localAuth as unknown as NonNullable<ClientOptions["auth"]>,
  });
};

/** Google's code and message of the error that a call ends with; code 0 of none. */
export const errorOf = (call: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> =>
  call.then(
    () => ({ code: 0, message: "" }),
    ({ code, message }: { code: number; message: string }) => ({ code, message }),
  );
