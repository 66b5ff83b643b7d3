import { findMoto } from "./find-moto.ts";
import { freePort } from "./free-port.ts";
import { startGuarded } from "./guarded-process.ts";
import { untilItAnswers } from "./until-it-answers.ts";

const host = "127.0.0.1";
/** Python compiles what it imports the first time. */
const startMs = 60_000;
const answerMs = 10_000;

/** An AWS of one's own on a free port. Any credentials and any region will do. */
export interface MotoServer {
  /** For `endpoint` of the vendor's clients. */
  readonly endpoint: string;
  /** Forgets every resource of every account. Executions that are under way go on unseen. */
  reset(): Promise<void>;
  /** Ends it. Idempotent. */
  stop(): Promise<void>;
}

/** Why `startMoto` would fail. Undefined: it would not. */
export const whyNoMoto = async (): Promise<string | undefined> => {
  const engine = await findMoto();
  return engine.kind === "missing" ? engine.reason : undefined;
};

/**
 * Starts moto with state machines that really run. It ends with this process, however this process ends.
 * @throws When it is not installed (`ensureMoto`) or does not answer.
 */
export const startMoto = async (): Promise<MotoServer> => {
  const engine = await findMoto();
  if (engine.kind === "missing") throw new Error(engine.reason);
  const port = await freePort(host);
  const endpoint = `http://${host}:${port}`;
  const args = ["-m", "moto.server", "--host", host, "--port", String(port)];
  const server = await startGuarded(engine.path, args, { env: withoutAws(process.env) });
  try {
    await untilItAnswers("moto", server.ended, startMs, () => runMachines(endpoint));
  } catch (error) {
    await server.kill();
    throw error;
  }
  return {
    endpoint,
    stop: server.kill,
    reset: async () => {
      await post(`${endpoint}/moto-api/reset`);
      if (!(await runMachines(endpoint))) throw new Error("the moto server has gone");
    },
  };
};

/** A developer's own account and profiles are none of its business. */
const withoutAws = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(AWS|MOTO)_/.test(name)));

/** Without this setting an execution only ever says that it runs. Whether there was somebody to set it. */
const runMachines = (endpoint: string): Promise<boolean> =>
  post(`${endpoint}/moto-api/config`, { stepfunctions: { execute_state_machine: true } }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof RefusedError) throw error;
      return false;
    },
  );

/** It answers, but not with what was asked for. */
class RefusedError extends Error {
  override readonly name = "RefusedError";
}

const post = async (url: string, body?: unknown): Promise<void> => {
  const answer = await fetch(url, {
    method: "POST",
    signal: AbortSignal.timeout(answerMs),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new RefusedError(`moto answers ${answer.status} to ${url}: ${text.slice(0, 200)}`);
};
