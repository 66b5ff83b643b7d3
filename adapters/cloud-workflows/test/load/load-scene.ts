import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionFacts } from "../fake/execution.ts";
import { type Fake, startFake } from "../fake/fake.ts";
import type { Script } from "../fake/script.ts";
import { startServer } from "../server-process.ts";
import { type TaskClient, taskClient } from "../task-client.ts";

/** A server on a Google that holds it to its quotas. */
export interface LoadScene {
  readonly fake: Fake;
  readonly workflow: string;
  readonly client: TaskClient;
  close(): Promise<void>;
}

export interface LoadOptions {
  readonly script: Script | ((facts: ExecutionFacts) => Script);
  /** How often the server looks at what nobody watches (milliseconds). Default 60,000. */
  readonly sweepMs?: number;
}

export const openLoad = async ({ script, sweepMs = 60_000 }: LoadOptions): Promise<LoadScene> => {
  const fake = await startFake();
  // Foreign ones are more than a project may have at once by default.
  fake.limitExecutions(100_000);
  const workflow = fake.workflow("orders", script);
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-load-"));
  const server = await startServer(new URL("./load-server.mjs", import.meta.url), {
    FOLDER: folder,
    ENDPOINT: fake.endpoint,
    SWEEP_MS: String(sweepMs),
  });
  const close = async (): Promise<void> => {
    server?.signal("SIGKILL");
    await server?.gone;
    await fake.close();
    await rm(folder, { recursive: true, force: true });
  };
  if (server === undefined) {
    await close();
    throw new Error("the server did not start");
  }
  return { fake, workflow, client: taskClient(server.url), close };
};

/** The most calls that came within any minute since an instant, as quotas count them. */
export const maxPerMinute = ({ journal }: Fake, method: string, since: number): number => {
  const times = journal.calls.filter((call) => call.method === method && call.at >= since).map(({ at }) => at);
  let limit = 0;
  let from = 0;
  for (const [index, at] of times.entries()) {
    while ((times[from] ?? at) <= at - 60_000) from += 1;
    limit = Math.max(limit, index - from + 1);
  }
  return limit;
};
