import { once } from "node:events";
import { createServer } from "node:net";

/** Ports that this process was given: a server that is still starting does not listen on its port yet. */
const given = new Set<number>();

/** A port on which no program listened a moment ago, and never the same one twice in a process. */
export const freePort = async (host: string): Promise<number> => {
  for (;;) {
    const probe = createServer().listen({ host, port: 0 });
    await once(probe, "listening");
    const address = probe.address();
    probe.close();
    await once(probe, "close");
    if (address === null || typeof address === "string") throw new Error("no free port");
    if (given.has(address.port)) continue;
    given.add(address.port);
    return address.port;
  }
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
