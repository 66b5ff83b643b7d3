import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "@jest/globals";
import { migrations } from "../src/migrations.ts";
import { describeWithPostgres, useDatabase } from "./database.ts";

/** `npm run soak` raises it, and is told how it went. */
const servers = Number(process.env.TASKBRIDGE_BOOTS ?? 3);
const script = fileURLToPath(new URL("fixtures/boot-on-message.mjs", import.meta.url));

interface Boot {
  readonly durationMs: number;
  readonly cpuMs: number;
}

describeWithPostgres("an empty database", () => {
  const { url, run, newSchema } = useDatabase();
  const children: ChildProcessWithoutNullStreams[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });

  /** A process that has loaded all it needs, and opens the store when that is called. */
  const prepare = async (schema: string): Promise<() => Promise<Boot>> => {
    const child = spawn(process.execPath, [script, url(), schema]);
    children.push(child);
    let complaints = "";
    child.stderr.on("data", (text) => {
      complaints += String(text);
    });
    const ended = once(child, "close");
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect([(await lines.next()).value, complaints]).toEqual(["ready", ""]);
    return async () => {
      child.stdin.write("boot\n");
      const { value } = await lines.next();
      expect([await ended, complaints]).toEqual([[0, null], ""]);
      return JSON.parse(value);
    };
  };

  it("is set up once by processes that start at the same moment, and none of them fails", async () => {
    const schema = newSchema();
    const boots = await Promise.all(Array.from({ length: servers }, () => prepare(schema)));
    const reported = await Promise.all(boots.map((boot) => boot()));
    const history = await run<{ readonly version: number }>(`SELECT version FROM "${schema}".schema_versions`);
    expect(history).toHaveLength(migrations.length);
    if (process.env.TASKBRIDGE_BOOTS === undefined) return;
    const slowest = Math.max(...reported.map(({ durationMs }) => durationMs));
    const cpuMs = reported.reduce((sum, one) => sum + one.cpuMs, 0);
    console.info(
      `${servers} processes opened an empty database at once: ${history.length} row(s) in schema_versions, no error; the slowest took ${Math.round(slowest)} ms, all of them ${Math.round(cpuMs)} ms of CPU`,
    );
  });
});
