import type { IncomingMessage } from "node:http";

/** For a client that sends on what nobody will read: it is cut off after this long in all, or in silence (milliseconds). */
const lingerMs = 10_000;
const silenceMs = 1_000;

/**
 * The body of a request, or undefined when it is larger than so many bytes: what is left of it is then still on its way.
 * Rejects when the client breaks off.
 */
export const readBody = async (request: IncomingMessage, maxBytes: number): Promise<readonly Buffer[] | undefined> => {
  if (Number(request.headers["content-length"]) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The default ends the connection with the loop, and no refusal could be sent any more.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return chunks;
};

/**
 * Reads and drops the rest of a body, for a while. A connection that is closed with unread bytes is reset, and a client that
 * is still sending then sees that instead of its answer.
 */
export const dropBody = (request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    const finish = (): void => {
      clearTimeout(whole);
      clearTimeout(silence);
      request.off("data", observe).off("end", finish).off("close", finish).off("error", finish);
      resolve();
    };
    const whole = setTimeout(finish, lingerMs);
    const silence = setTimeout(finish, silenceMs);
    const observe = (): void => void silence.refresh();
    request.on("data", observe).once("end", finish).once("close", finish).once("error", finish).resume();
  });
