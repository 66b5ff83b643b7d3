import type { Message } from "../rpc-client.ts";
import { inTime } from "../serve.ts";

/** A message as it went over HTTP. */
export interface Line {
  /** Of an exchange that is recorded for its HTTP. */
  readonly name?: string;
  readonly from: "client" | "server";
  /** The method of a request that carries no message. */
  readonly http?: string;
  /** Headers that say something which the message does not; null: one that is left out. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The status of the answer. */
  readonly status?: number;
  /** The text after it in the status line. */
  readonly reason?: string;
  /** It came as an event of a stream. */
  readonly stream?: true;
  /** The lines of the event next to its data. */
  readonly fields?: readonly string[];
  /** A body that is no JSON, or a response as a whole. */
  readonly body?: string;
  /** The body, or the data of the event. Absent: there was none. */
  readonly text?: string;
}

/** The answer to one HTTP request. What comes is written down when it is read, so that transcripts have one order. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The next message; undefined at the end. Rejects after five seconds. */
  next(): Promise<Message | undefined>;
  /** Everything until the end. */
  rest(): Promise<readonly Message[]>;
  /** Goes away; what still comes is not written down. */
  leave(): void;
}

export interface Conversation {
  /** Everything so far. */
  readonly lines: readonly Line[];
  /** Writes down what the client says, sends it, and resolves when the answer begins. */
  exchange(said: Said, send: (signal: AbortSignal) => Promise<Response>): Promise<Reply>;
  /** Throws when an answer was not read to its end. */
  end(): void;
}

export type Said = Pick<Line, "http" | "headers" | "text">;

/** Talks to a server, and writes down every message in both directions as it was on the wire. */
export const startConversation = (): Conversation => {
  const lines: Line[] = [];
  const open = new Set<Reply>();

  const receive = (response: Response, abort: AbortController): Reply => {
    const { status, headers } = response;
    const head = {
      from: "server" as const,
      status,
      ...sessionOf(headers),
      ...(isStream(response) ? { stream: true as const } : {}),
    };
    const texts = readTexts(response);
    let isEmpty = true;
    const next = async (): Promise<Message | undefined> => {
      const { value, done } = await inTime(texts.next());
      if (done === true) {
        if (isEmpty && open.has(reply)) lines.push(head);
        open.delete(reply);
        return undefined;
      }
      isEmpty = false;
      lines.push({ ...head, text: value });
      return JSON.parse(value) as Message;
    };
    const rest = async (): Promise<readonly Message[]> => {
      const messages: Message[] = [];
      for (let message = await next(); message !== undefined; message = await next()) messages.push(message);
      return messages;
    };
    const leave = (): void => {
      open.delete(reply);
      abort.abort();
    };
    const reply: Reply = { status, headers, next, rest, leave };
    open.add(reply);
    return reply;
  };

  return {
    lines,
    exchange: async (said, send) => {
      lines.push({ from: "client", ...said });
      const abort = new AbortController();
      return receive(await inTime(send(abort.signal)), abort);
    },
    end: () => {
      if (open.size > 0) throw new Error(`${open.size} answers were not read to their end`);
    },
  };
};

/** The one header of an answer that clients have to say again. */
const sessionOf = (headers: Headers): Pick<Line, "headers"> => {
  const id = headers.get("mcp-session-id");
  return id === null ? {} : { headers: { "mcp-session-id": id } };
};

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Bytes that are no UTF-8 are a fault, and a byte order mark is told. */
const decoding = { fatal: true, ignoreBOM: true };

async function* readTexts(response: Response): AsyncGenerator<string, void> {
  if (!isStream(response)) {
    const text = new TextDecoder("utf-8", decoding).decode(await response.arrayBuffer());
    if (text !== "") yield text;
    return;
  }
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream("utf-8", decoding)) ?? []) {
    text += chunk;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = toData(event);
      // Comments keep a stream alive; an event without data only gives it an ID to resume from.
      if (data !== "") yield data;
    }
  }
}

const toData = (event: string): string =>
  event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).replace(/^ /, ""))
    .join("\n");
