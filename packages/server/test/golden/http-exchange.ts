import { type IncomingMessage, request } from "node:http";

/** One HTTP request as a client sends it: what the conversations above cannot say, since they speak as a good client does. */
export interface HttpExchange {
  /** What is odd about the request. */
  readonly name: string;
  /** Default: POST. */
  readonly method?: string;
  /** In place of the endpoint's. */
  readonly path?: string;
  /** Added to those of a good request; null takes one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** JSON, or a text that is sent as it is. */
  readonly body?: object | string;
  /** The answer stays open until all exchanges are over. */
  readonly staysOpen?: true;
}

/** Headers of an answer by which a client acts. */
const recorded = [
  "content-type",
  "allow",
  "mcp-session-id",
  "mcp-protocol-version",
  "www-authenticate",
  "retry-after",
  "cache-control",
  "accept",
  "accept-post",
];

export interface Recorder {
  /** One line for each exchange, in order. */
  readonly lines: readonly string[];
  /** Sends one request and writes down its answer. Resolves with the body's text. */
  play(exchange: HttpExchange): Promise<{ readonly text: string; readonly headers: IncomingMessage["headers"] }>;
  close(): void;
}

/** @param good The headers that a good client sends. */
export const recordHttp = (url: string, good: Readonly<Record<string, string>>): Recorder => {
  const lines: string[] = [];
  const open: IncomingMessage[] = [];
  const play: Recorder["play"] = async ({ name, method = "POST", path, headers = {}, body, staysOpen }) => {
    const text = typeof body === "object" ? JSON.stringify(body) : body;
    const sent = Object.entries({ ...good, ...headers }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(path === undefined ? url : new URL(path, url), { method, headers: Object.fromEntries(sent) }, resolve)
        .on("error", reject)
        .end(text);
    });
    // A stream that the client opens by GET ends only with the session.
    const isEndless = method === "GET" && answer.headers["content-type"] === "text/event-stream";
    const received = isEndless ? "" : await readText(answer);
    if (isEndless && staysOpen === true) open.push(answer);
    else answer.destroy();
    lines.push(
      JSON.stringify({
        exchange: name,
        status: answer.statusCode,
        ...Object.fromEntries(recorded.flatMap((key) => (key in answer.headers ? [[key, answer.headers[key]]] : []))),
        ...(received === "" ? {} : { body: received }),
      }),
    );
    return { text: received, headers: answer.headers };
  };
  return {
    lines,
    play,
    close: () => {
      for (const answer of open) answer.destroy();
    },
  };
};

const readText = async (answer: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += chunk;
  return text;
};

/** Replaces what the server made up: values by the names that the test gives them, instants, and IDs of other sessions. */
export const withPlaceholders = (
  lines: readonly string[],
  values: Readonly<Record<string, string>>,
): readonly string[] =>
  lines.map((line) =>
    Object.entries(values)
      .reduce((text, [name, value]) => text.replaceAll(value, `<${name}>`), line)
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "<time>")
      .replace(/"mcp-session-id":"[^<"]+"/, '"mcp-session-id":"<another-session>"'),
  );
