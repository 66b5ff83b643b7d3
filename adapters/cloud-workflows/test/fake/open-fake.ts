import { ExecutionsClient } from "@google-cloud/workflows";
import { type ManualClock, manualClock } from "./clock.ts";
import { type Fake, type FakeOptions, startFake } from "./fake.ts";

type ClientOptions = NonNullable<ConstructorParameters<typeof ExecutionsClient>[0]>;
type Auth = NonNullable<ClientOptions["auth"]>;

/** A fake on a clock that the test moves, with the vendor's own client over REST. */
export interface OpenFake {
  readonly fake: Fake;
  readonly clock: ManualClock;
  readonly client: ExecutionsClient;
  /** A GET, or what `init` says, with a token, of what the vendor's client has no method for. */
  rest(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }>;
  close(): Promise<void>;
}

/** What the vendor's client needs to reach a local endpoint without credentials. */
export const localOptions = (port: number): ClientOptions => ({
  fallback: true as const,
  protocol: "http",
  apiEndpoint: "127.0.0.1",
  port,
  // The client wants the whole of GoogleAuth and uses four of its methods.
  auth: localAuth as unknown as Auth,
});

const localAuth = {
  getUniverseDomain: async () => "googleapis.com",
  getClient: async () => localAuth,
  getRequestHeaders: async () => new Headers({ authorization: "Bearer test" }),
  fetch: (url: string, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", "Bearer test");
    return fetch(url, { ...init, headers });
  },
};

export const openFake = async (options: Omit<FakeOptions, "clock"> = {}): Promise<OpenFake> => {
  const clock = manualClock();
  const fake = await startFake({ ...options, clock });
  const client = new ExecutionsClient(localOptions(fake.port));
  return {
    fake,
    clock,
    client,
    rest: async (path, init = {}) => {
      const url = path.startsWith("http") ? path : `${fake.endpoint}/v1/${path}`;
      const response = await localAuth.fetch(url, init);
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    close: async () => {
      await client.close();
      await fake.close();
    },
  };
};

/** Google's code and message of the error that a call ends with; code 0 of none. */
export const errorOf = (call: Promise<unknown>): Promise<{ readonly code: number; readonly message: string }> =>
  call.then(
    () => ({ code: 0, message: "" }),
    ({ code, message }: { code: number; message: string }) => ({ code, message }),
  );
