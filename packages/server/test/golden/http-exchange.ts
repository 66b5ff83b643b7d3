import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { text as readText } from "node:stream/consumers";
import { inTime } from "../serve.ts";
import type { Line } from "./conversation.ts";

/** What differs from the request that every exchange of a group sends. */
export interface HttpRequest {
  /** Default: `POST`. */
  readonly method?: string;
  /** Default: the server's. */
  readonly path?: string;
  /** Null takes a header out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A message, or the text of a body; null: no body. Default for `POST`: the message of the group. */
  readonly body?: object | string | null;
  /** Sends the body without its length. */
  readonly chunked?: true;
  /** Closes an answer that is a stream once its head is there: it has no end of its own. */
  readonly leave?: true;
  /** Keeps an answer that is a stream open, and reads it to its end after the next exchange, which has to end it. */
  readonly hold?: true;
  /** Everything that is sent, instead of a request. */
  readonly raw?: string;
}

export type Exchange = readonly [name: string, request: HttpRequest];

/** Exchanges that are sent one after the other, and share a transcript. */
export interface HttpGroup {
  /** Names the transcript. */
  readonly name: string;
  readonly exchanges: readonly Exchange[];
}

export interface HttpBase {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly message: object;
}

export interface Played {
  readonly lines: readonly Line[];
  /** Of the answer. */
  readonly headers: IncomingMessage["headers"];
  /** What came later in a stream that was held open. */
  readonly rest?: () => Promise<readonly Line[]>;
}

/** Sends one request and returns what went over the wire in both directions. */
export const playExchange = async (base: HttpBase, [name, said]: Exchange): Promise<Played> => {
  if (said.raw !== undefined) {
    const body = await inTime(sendRaw(base.url, said.raw));
    const asked: Line = { name, from: "client", body: said.raw };
    return { lines: [asked, { from: "server", body }], headers: {} };
  }
  const { method = "POST", body = method === "POST" ? base.message : null } = said;
  const text = typeof body === "object" && body !== null ? JSON.stringify(body) : body;
  const response = await inTime(send(base, { ...said, method }, text));
  const { headers } = response;
  const lines: readonly [Line, Line] = [toAsked(name, { ...said, method }, text), toHead(response)];
  if (headers["content-type"]?.startsWith("text/event-stream") !== true) {
    const received = await inTime(readText(response));
    return { lines: [lines[0], { ...lines[1], ...(received === "" ? {} : toBody(received)) }], headers };
  }
  if (said.leave === true) {
    response.destroy();
    return { lines, headers };
  }
  const rest = async (): Promise<readonly Line[]> => {
    const events = toEvents(await inTime(readText(response)));
    return said.hold === true ? [{ name: `${name}: the stream`, from: "server" }, ...events] : events;
  };
  return said.hold === true ? { lines, headers, rest } : { lines: [...lines, ...(await rest())], headers };
};

const toAsked = (name: string, { method, path, headers, body }: HttpRequest, text: string | null): Line => ({
  name,
  from: "client",
  http: `${method}${path === undefined ? "" : ` ${path}`}`,
  ...(headers === undefined ? {} : { headers }),
  ...(body === undefined || text === null ? {} : toBody(text)),
});

const send = (base: HttpBase, said: HttpRequest, text: string | null): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = Object.entries({ ...base.headers, ...said.headers }).filter(([, value]) => value !== null);
    const length = text === null || said.chunked === true ? {} : { "content-length": Buffer.byteLength(text) };
    const sent = request(new URL(said.path ?? "", base.url), {
      method: said.method,
      // An agent of its own closes the connection, but does not ask the server to: whether it would stay open is in the answer.
      agent: false,
      headers: { connection: "keep-alive", ...(Object.fromEntries(headers) as Record<string, string>), ...length },
    });
    sent.on("response", resolve).on("error", reject);
    if (text !== null && said.chunked === true) sent.write(text);
    sent.end(said.chunked === true ? undefined : (text ?? undefined));
  });

/** The whole answer to what need not be HTTP, without its date. */
const sendRaw = (url: string, raw: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(raw);
  return readText(socket).then((answer) => answer.replace(/^date: .*\r\n/im, ""));
};

/** Everything that may change is in: a header that appears or is lost is a difference. */
const toHead = ({ statusCode = 0, statusMessage = "", headers }: IncomingMessage): Line => {
  const { date: _date, ...rest } = headers;
  const sorted = Object.entries(rest).sort(([one], [other]) => (one < other ? -1 : 1));
  const shown = sorted.map(([name, value]) => [name, String(value)] as const);
  return { from: "server", status: statusCode, reason: statusMessage, headers: Object.fromEntries(shown) };
};

const longestShown = 1_000;

const toBody = (text: string): Pick<Line, "text" | "body"> => {
  if (text.length > longestShown) return { body: `(${text.length} characters)` };
  try {
    JSON.parse(text);
    return { text };
  } catch {
    return { body: text };
  }
};

const toEvents = (text: string): readonly Line[] =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const all = event.split("\n");
      const fields = all.filter((line) => !line.startsWith("data:")).map((line) => line.replace(/^id: .+/, "id: <id>"));
      const data = all.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      return { from: "server", stream: true, fields, ...(data.length === 0 ? {} : toBody(data.join("\n"))) };
    });
