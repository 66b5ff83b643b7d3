import type { Server } from "node:http";
import { BridgeError } from "@taskbridge/core";

/** Lets a server listen. Rejects with `misconfigured` (`data.path`, and in `data.reason` the system's code) when the address cannot be had. */
export const bind = (server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(toBindError(error, host, port));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve();
    });
  });

const toBindError = (error: NodeJS.ErrnoException, host: string, port: number): BridgeError => {
  const isPort = error.code === "EADDRINUSE" || error.code === "EACCES";
  const path = isPort ? "port" : "host";
  const reason =
    error.code === "EADDRINUSE" ? `port ${port} of ${host} is in use` : `${host}:${port} cannot be had: ${error.code}`;
  return new BridgeError("misconfigured", `${path}: ${reason}`, { data: { path, reason: error.code }, cause: error });
};
