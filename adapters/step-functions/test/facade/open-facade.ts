import { SFNClient, type SFNClientConfig } from "@aws-sdk/client-sfn";
import { type ManualClock, manualClock } from "./clock.ts";
import { type Facade, type FacadeOptions, startFacade } from "./facade.ts";

/** A façade on a clock that the test moves, with the vendor's own client, which retries nothing. */
export interface FacadeBench {
  readonly facade: Facade;
  readonly clock: ManualClock;
  readonly client: SFNClient;
  close(): Promise<void>;
}

/** What the vendor's clients need to reach a local endpoint. */
export const localConfig = (endpoint: string, region = "eu-west-1"): SFNClientConfig => ({
  endpoint,
  region,
  credentials: { accessKeyId: "test", secretAccessKey: "test" },
  maxAttempts: 1,
  disableHostPrefix: true,
});

export const openFacade = async (options: Omit<FacadeOptions, "clock"> = {}): Promise<FacadeBench> => {
  const clock = manualClock();
  const facade = await startFacade({ ...options, clock });
  const client = new SFNClient(localConfig(facade.endpoint, facade.region));
  return {
    facade,
    clock,
    client,
    close: async () => {
      client.destroy();
      await facade.close();
    },
  };
};

/** The name and message of the error that a call ends with. */
export const errorOf = (call: Promise<unknown>): Promise<{ readonly name: string; readonly message: string }> =>
  call.then(
    () => ({ name: "none", message: "" }),
    ({ name, message }: Error) => ({ name, message }),
  );
