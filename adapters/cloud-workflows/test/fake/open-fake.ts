import { type ManualClock, manualClock } from "./clock.ts";
import { type Fake, type FakeOptions, startFake } from "./fake.ts";
import { authorizedFetch } from "./local-client.ts";

/** A fake on a clock that the test moves, asked by hand. */
export interface OpenFake {
  readonly fake: Fake;
  readonly clock: ManualClock;
  /** A GET, or what `init` says, with a token; of a URL or of a resource's name. */
  rest(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: unknown }>;
  close(): Promise<void>;
}

export const openFake = async (options: Omit<FakeOptions, "clock"> = {}): Promise<OpenFake> => {
  const clock = manualClock();
  const fake = await startFake({ ...options, clock });
  return {
    fake,
    clock,
    rest: async (path, init) => {
      const response = await authorizedFetch(path.startsWith("http") ? path : `${fake.endpoint}/v1/${path}`, init);
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    },
    close: fake.close,
  };
};
