import { type Message, post, type RequestOptions } from "./rpc-client.ts";

/** One `subscriptions/listen` stream as its reader sees it. */
export interface Listening {
  readonly response: Response;
  /** The next message; undefined at the end of the stream. Rejects after five seconds. */
  next(): Promise<Message | undefined>;
  /** Everything until the end. */
  rest(): Promise<readonly Message[]>;
  /** Comment lines that came. */
  readonly comments: readonly string[];
  abort(): void;
}

export const listen = async (
  url: string,
  notifications: Record<string, unknown>,
  options: RequestOptions = {},
): Promise<Listening> => {
  const abort = new AbortController();
  const response = await post(url, "subscriptions/listen", { notifications }, { ...options, signal: abort.signal });
  if (response.body === null) throw new Error("no body");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const waiting: Message[] = [];
  const comments: string[] = [];
  let text = "";
  const read = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    if (done) return false;
    text += value;
    const frames = text.split("\n\n");
    text = frames.pop() ?? "";
    for (const frame of frames) {
      const data = frame.split("\n").find((line) => line.startsWith("data: "));
      if (data === undefined) comments.push(frame);
      else waiting.push(JSON.parse(data.slice(6)) as Message);
    }
    return true;
  };
  const next = async (): Promise<Message | undefined> => {
    while (waiting.length === 0) {
      if (!(await withinFiveSeconds(read()))) return undefined;
    }
    return waiting.shift();
  };
  return {
    response,
    comments,
    next,
    rest: async () => {
      const messages: Message[] = [];
      for (let message = await next(); message !== undefined; message = await next()) messages.push(message);
      return messages;
    },
    abort: () => abort.abort(),
  };
};

const withinFiveSeconds = async <Value>(work: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("nothing came within 5 s")), 5_000);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
};
