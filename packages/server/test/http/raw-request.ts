import { type Agent, request } from "node:http";

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** The client's own port: two answers with the same one came over one connection. */
  readonly port: number | undefined;
}

export interface RawOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly agent?: Agent;
  readonly body?: string;
}

/** One request as it is said, with a Host of choice, which `fetch` does not let through. */
export const rawRequest = (url: string, { body, ...options }: RawOptions = {}): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { ...options, headers: { ...options.headers } }, (response) => {
      const port = response.socket.localPort;
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, port }),
      );
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** The address of a probe of the server that is at this URL. */
export const probeOf = (url: string, path: string): string => new URL(path, url).href;
