import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type BalancerTarget, nameOf, watchHealth } from "./target-health.ts";

/** A request as far as a balancer looks at it. */
export interface BalancedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

/** What became of one request at one target. */
export interface BalancerOutcome {
  readonly request: BalancedRequest;
  /** `host:port`; `none` when no target was up. */
  readonly target: string;
  /**
   * The HTTP status once the whole answer has passed; `refused`: no connection, so that the next target was tried; `reset`: cut
   * before the answer began; `cut`: cut within the answer; `left`: its client has left before the end; `unserved`: no target
   * was left, which its client got as a 503 of the balancer.
   */
  readonly outcome: number | "refused" | "reset" | "cut" | "left" | "unserved";
  /** When it was passed on and when this was known (epoch milliseconds by this machine's clock). */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface BalancerOptions {
  readonly targets: readonly BalancerTarget[];
  /** Default: each request goes to the next target that is up, whoever sent it. Of those in `up`; undefined: the default's choice. */
  readonly choose?: (request: BalancedRequest, up: readonly BalancerTarget[]) => BalancerTarget | undefined;
  /** A target is taken out while a GET of this is not answered with a 2xx. Default: none is ever taken out. */
  readonly healthPath?: string;
  /** Between two looks at `healthPath` (milliseconds). Default: 500. */
  readonly healthEveryMs?: number;
  /** Hears of every request when it is over. */
  readonly onOutcome?: (outcome: BalancerOutcome) => void;
  /** Default: any free port. */
  readonly port?: number;
}

/** One address before several servers, without sticky routing: what a client sends next may go anywhere. */
export interface Balancer extends BalancerTarget {
  /** `http://host:port`, without a path. */
  readonly url: string;
  /** Replaces the targets. Requests under way go on. */
  setTargets(targets: readonly BalancerTarget[]): void;
  /** Looks at the health of all targets now, beside the regular looks. */
  probe(): Promise<void>;
  /** How often each outcome came, by target: `{ "127.0.0.1:3001": { "200": 12, refused: 1 } }`. */
  tally(): Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Cuts what is under way. Idempotent. */
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
/** Longer than clients keep an idle connection, so that none sends into one that is being closed (milliseconds). */
const keepAliveMs = 75_000;
/** Belong to one connection: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const ownHeaders = new Set(["connection", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"]);

/**
 * Passes on both ways as bytes come, so that event streams flow, and each side's end or loss to the other. Every request has
 * a connection of its own to its target: a target that stops is then refused or cut, never met on a stale connection.
 */
export const startRoundRobin = async (options: BalancerOptions): Promise<Balancer> => {
  let targets = options.targets;
  let turn = 0;
  const counts = new Map<string, Map<string, number>>();
  const health = watchHealth({
    path: options.healthPath,
    everyMs: options.healthEveryMs ?? 500,
    targets: () => targets,
  });
  const report = (outcome: BalancerOutcome): void => {
    const ofTarget = counts.get(outcome.target) ?? new Map<string, number>();
    counts.set(outcome.target, ofTarget);
    ofTarget.set(String(outcome.outcome), (ofTarget.get(String(outcome.outcome)) ?? 0) + 1);
    options.onOutcome?.(outcome);
  };
  const choose = (balanced: BalancedRequest, tried: ReadonlySet<string>): BalancerTarget | undefined => {
    const up = targets.filter((target) => health.isUp(target) && !tried.has(nameOf(target)));
    const chosen = tried.size === 0 ? options.choose?.(balanced, up) : undefined;
    if (chosen !== undefined || up.length === 0) return chosen;
    turn += 1;
    return up[turn % up.length];
  };
  const passOn = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", url = "/", headers } = incoming;
    const balanced: BalancedRequest = { method, url, headers };
    const tried = new Set<string>();
    for (;;) {
      const target = choose(balanced, tried);
      const startedAt = Date.now();
      const name = target === undefined ? "none" : nameOf(target);
      const outcome = target === undefined ? "unserved" : await exchange(incoming, response, target);
      report({ request: balanced, target: name, outcome, startedAt, endedAt: Date.now() });
      if (outcome !== "refused") {
        if (outcome === "unserved") response.writeHead(503, { "retry-after": "1" }).end("no server is up\n");
        return;
      }
      tried.add(name);
    }
  };
  const server = createServer((incoming, response) => void passOn(incoming, response));
  server.keepAliveTimeout = keepAliveMs;
  server.listen(options.port ?? 0, loopback);
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the balancer has no port");
  const { port } = address;
  return {
    host: loopback,
    port,
    url: `http://${loopback}:${port}`,
    setTargets: (next) => {
      targets = next;
    },
    probe: health.probe,
    tally: () => Object.fromEntries([...counts].map(([target, ofTarget]) => [target, Object.fromEntries(ofTarget)])),
    close: async () => {
      health.close();
      server.closeAllConnections();
      if (!server.listening) return;
      server.close();
      await once(server, "close");
    },
  };
};

type Exchanged = Exclude<BalancerOutcome["outcome"], "unserved">;

/** Nothing of the request is read before there is a connection, so that a refused one can go to another target. */
const exchange = (incoming: IncomingMessage, response: ServerResponse, target: BalancerTarget): Promise<Exchanged> =>
  new Promise((resolve) => {
    const { method, url, headers } = incoming;
    const { host, port } = target;
    let isConnected = false;
    let hasBegun = false;
    const outgoing = request({ host, port, method, path: url, headers: toPassedOn(headers), agent: false });
    const onLeft = (): void => {
      if (response.writableFinished) return;
      settle("left");
      outgoing.destroy();
    };
    /** What comes after the first changes nothing. */
    const settle = (outcome: Exchanged): void => {
      response.off("close", onLeft);
      resolve(outcome);
    };
    const onLost = (): void => {
      if (isConnected) response.destroy();
      const lost = hasBegun ? "cut" : "reset";
      settle(isConnected ? lost : "refused");
    };
    response.on("close", onLeft);
    outgoing.on("error", onLost);
    outgoing.on("socket", (socket) => {
      socket.setNoDelay(true);
      socket.once("connect", () => {
        isConnected = true;
        incoming.pipe(outgoing);
      });
    });
    outgoing.on("response", (answer) => {
      hasBegun = true;
      const status = answer.statusCode ?? 502;
      response.writeHead(status, toPassedOn(answer.headers));
      // What streams may have nothing to send for long; anything else goes in one piece.
      if (answer.headers["content-length"] === undefined) response.flushHeaders();
      answer.on("error", onLost);
      answer.on("end", () => settle(status));
      answer.pipe(response);
    });
  });

const toPassedOn = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name)));
