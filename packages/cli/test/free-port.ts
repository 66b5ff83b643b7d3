import { once } from "node:events";
import { createServer } from "node:net";

/** A port for a server that is to be started again on the same one. */
export const freePort = async (): Promise<string> => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return String(typeof address === "object" ? address?.port : 0);
};
