import { connect, createServer, type Socket } from "node:net";

/** A network between a client and a server that breaks once. */
export interface BreakingProxy {
  readonly url: string;
  breaks(): number;
  close(): void;
}

/** Takes the bytes with it in which the server first says `text`, and the connection; both ends notice at once. */
export const breakingProxy = async (target: string, text: string): Promise<BreakingProxy> => {
  const { hostname, port, pathname } = new URL(target);
  const sockets = new Set<Socket>();
  let breaks = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    const both = [client, upstream];
    const drop = (): void => {
      for (const socket of both) {
        socket.destroy();
        sockets.delete(socket);
      }
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("close", drop).on("error", drop);
    }
    client.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => {
      if (breaks > 0 || !bytes.includes(text)) return void client.write(bytes);
      breaks++;
      drop();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}${pathname}`,
    breaks: () => breaks,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
