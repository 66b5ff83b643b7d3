import { findGcw } from "./find-gcw.ts";
import { freePort, isFree } from "./free-port.ts";
import { startGuarded } from "./guarded-process.ts";
import { untilItAnswers } from "./until-it-answers.ts";

const host = "127.0.0.1";
const startMs = 30_000;
const answerMs = 5_000;

/** A Google Cloud Workflows of one's own on a free port. Any project and any location will do. */
export interface GcwServer {
  /** For the endpoint of the vendor's clients, in their REST mode. */
  readonly url: string;
  /** Ends it, with all that it holds. Idempotent. */
  close(): Promise<void>;
}

/** Why `startGcw` would fail. Undefined: it would not. */
export const whyNoGcw = async (): Promise<string | undefined> => {
  const engine = await findGcw();
  return engine.kind === "missing" ? engine.reason : undefined;
};

/**
 * Starts a Google Cloud Workflows whose workflows really run. It ends with this process, however this process ends.
 * @param given `port`: in place of a free one.
 * @throws When it is not built (`ensureGcw`), the port is taken, or it does not answer.
 */
export const startGcw = async (given: { readonly port?: number } = {}): Promise<GcwServer> => {
  const engine = await findGcw();
  if (engine.kind === "missing") throw new Error(engine.reason);
  const port = given.port ?? (await freePort(host));
  // Whoever has it would answer in its place.
  if (!(await isFree(host, port))) throw new Error(`${host}:${port} is in use`);
  const url = `http://${host}:${port}`;
  const server = await startGuarded(engine.path, ["-port", String(port)]);
  try {
    await untilItAnswers("gcw", server.ended, startMs, () => answers(url));
  } catch (error) {
    await server.kill();
    throw error;
  }
  return { url, close: server.kill };
};

/** Whether there was somebody to ask. */
const answers = async (url: string): Promise<boolean> => {
  const path = "/v1/projects/none/locations/none/workflows";
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(answerMs) }).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
};
