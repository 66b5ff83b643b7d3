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

/** Whether nobody listens on it. */
export const isFree = async (host: string, port: number): Promise<boolean> => {
  const probe = createServer().listen({ host, port });
  try {
    await once(probe, "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw error;
  }
  probe.close();
  await once(probe, "close");
  return true;
};
