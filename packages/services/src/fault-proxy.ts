import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const host = "127.0.0.1";

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** What goes wrong from now on, on new and on open connections. */
export interface Faults {
  /** Asked for each piece of a request; when true, its answer is kept back and the connection cut once the server has given it. */
  readonly losesAnswer?: ((request: Buffer) => boolean) | undefined;
  /** How long an answer is held back (milliseconds). */
  readonly delayMs?: number;
  /** Nothing passes either way, and nothing is closed. What came meanwhile is passed on when it ends. */
  readonly frozen?: boolean;
}

/** Stands between a client and a server, and breaks what a test wants broken. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** Replaces the faults. None: `{}`. */
  set(faults: Faults): void;
  /** Cuts every open connection. */
  cut(): void;
  /** Answers lost so far. */
  readonly lostAnswers: number;
  /** How often a client has sent something after an answer: the round trips, over all connections. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** The answer that comes next is to be lost. */
  isDoomed: boolean;
  hasAnswered: boolean;
  /** Until what is held back has been passed on. */
  held: Promise<void> | undefined;
}

export const startFaultProxy = async (target: ProxyTarget): Promise<FaultProxy> => {
  const pairs = new Set<Pair>();
  let faults: Faults = {};
  let lostAnswers = 0;
  let roundTrips = 0;

  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.client.destroy();
    pair.server.destroy();
  };
  const onRequest = (pair: Pair, chunk: Buffer): void => {
    if (pair.hasAnswered) roundTrips += 1;
    pair.hasAnswered = false;
    pair.isDoomed ||= faults.losesAnswer?.(chunk) === true;
    pair.server.write(chunk);
  };
  const onAnswer = (pair: Pair, chunk: Buffer): void => {
    pair.hasAnswered = true;
    if (pair.isDoomed) {
      lostAnswers += 1;
      end(pair);
    } else if (faults.delayMs === undefined && pair.held === undefined) pair.client.write(chunk);
    else hold(pair, chunk, faults.delayMs ?? 0);
  };

  const listener = createServer((client) => {
    const pair: Pair = { client, server: connect(target), isDoomed: false, hasAnswered: true, held: undefined };
    pairs.add(pair);
    client.setNoDelay(true);
    pair.server.setNoDelay(true);
    client.on("data", (chunk) => onRequest(pair, chunk));
    pair.server.on("data", (chunk) => onAnswer(pair, chunk));
    for (const socket of [client, pair.server]) {
      socket.on("error", () => end(pair));
      socket.on("close", () => end(pair));
    }
    if (faults.frozen === true) freeze(pair);
  });
  listener.listen({ host, port: 0 });
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("the proxy has no port");

  return {
    host,
    port: address.port,
    set: (next) => {
      faults = next;
      for (const pair of pairs) (next.frozen === true ? freeze : thaw)(pair);
    },
    cut: () => {
      for (const pair of pairs) end(pair);
    },
    get lostAnswers() {
      return lostAnswers;
    },
    get roundTrips() {
      return roundTrips;
    },
    close: async () => {
      for (const pair of pairs) end(pair);
      if (!listener.listening) return;
      listener.close();
      await once(listener, "close");
    },
  };
};

/** What comes later never overtakes it, however short that is held back. */
const hold = (pair: Pair, chunk: Buffer, delayMs: number): void => {
  const { held = Promise.resolve() } = pair;
  const last = Promise.all([held, sleep(delayMs)]).then(() => {
    if (pair.client.writable) pair.client.write(chunk);
    if (pair.held === last) pair.held = undefined;
  });
  pair.held = last;
};

const freeze = ({ client, server }: Pair): void => {
  client.pause();
  server.pause();
};

const thaw = ({ client, server }: Pair): void => {
  client.resume();
  server.resume();
};
