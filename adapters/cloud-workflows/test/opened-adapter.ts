import { afterEach } from "@jest/globals";
import { type AdapterOnFake, openAdapter } from "./adapter-on-fake.ts";

let open: AdapterOnFake | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

/** The adapter on a fake for one test, closed after it. */
export const openedAdapter = async (...options: Parameters<typeof openAdapter>): Promise<AdapterOnFake> => {
  open = await openAdapter(...options);
  return open;
};
