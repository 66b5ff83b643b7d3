import { once } from "node:events";
import { createServer } from "node:net";

/** A port that nobody listened on a moment ago. */
export const freePort = async (host: string): Promise<number> => {
  const probe = createServer().listen({ host, port: 0 });
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
};
