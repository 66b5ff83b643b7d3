import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { ExecutionQuestion } from "@taskbridge/core/adapter";
import { parse } from "yaml";
import { createAdapter } from "../src/index.ts";
import { describeRedis, newKey, type RedisBench, redisBench, until } from "./redis-bench.ts";

const run = (program: string, given: readonly string[]) =>
  new Promise<{ readonly stdout: string; readonly code: number }>((resolve) => {
    execFile(program, given, (error, stdout) => resolve({ stdout, code: error === null ? 0 : Number(error.code) }));
  });

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

const packageFolder = fileURLToPath(new URL("..", import.meta.url));

const block = (language: string): string => {
  const [, code] = new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(readme) ?? [];
  if (code === undefined) throw new Error(`the README has no ${language}`);
  return code;
};

interface Config {
  readonly adapters: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly tools: readonly { readonly adapter: string; readonly target: unknown }[];
}

it("shows a worker that is TypeScript as well", async () => {
  // Within the package, which so finds itself and BullMQ.
  const folder = await mkdtemp(join(packageFolder, "test", "readme-"));
  try {
    const [, type = ""] = /TypeScript: (.*)/.exec(block("js")) ?? [];
    const code = `import type { Job } from "bullmq";\n${block("js").replace("(job, token", `(${type}, token`)}`;
    await writeFile(join(folder, "worker.mts"), code);
    const settings = [
      "--strict",
      "--noEmit",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--types",
      "node",
      "--ignoreConfig",
    ];
    const compiler = join(packageFolder, "../../node_modules/.bin/tsc");
    const { stdout, code: exitCode } = await run(compiler, [...settings, join(folder, "worker.mts")]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
});

describeRedis(
  "the README",
  () => {
    let bench: RedisBench;
    let worker: ChildProcess | undefined;
    beforeEach(async () => {
      bench = await redisBench({});
    });
    afterEach(async () => {
      if (worker !== undefined) {
        const ended = once(worker, "exit");
        if (worker.kill("SIGKILL")) await ended;
        worker = undefined;
      }
      await bench.close();
    });
    const here = (text: string): string => text.replaceAll("redis://127.0.0.1:6379", bench.url);

    it("shows a usage that runs", async () => {
      const config: Config = parse(here(block("yaml")));
      const [tool] = config.tools;
      const { use: _use, ...options } = config.adapters[tool?.adapter ?? ""] ?? {};
      const adapter = createAdapter(options, { baseDirectory: "/" });
      const code = here(block("js"));
      worker = spawn(process.execPath, ["--input-type=module", "--eval", code], {
        cwd: packageFolder,
        stdio: ["ignore", "ignore", "inherit"],
      });
      const request = {
        key: newKey(),
        target: adapter.parseTarget(tool?.target),
        input: '{"customer":"Ada"}',
        attempt: 1,
      };
      const { ref } = await adapter.start(request, bench.context());
      const inspection = async () => (await adapter.inspect?.([{ ref, want: "detail" }], bench.context()))?.[0];
      const question = await until("the question", async (): Promise<ExecutionQuestion | undefined> => {
        const outcome = await inspection();
        return outcome !== undefined && "snapshot" in outcome ? outcome.snapshot.questions?.[0] : undefined;
      });
      expect(question.message).toBe("Publish the report of Ada?");
      await adapter.answer?.(ref, { answerId: "a", attempt: 1, question, action: "accept" }, bench.context());
      const end = await until("the end", async () => {
        const outcome = await inspection();
        return outcome !== undefined && "snapshot" in outcome && outcome.snapshot.status === "succeeded"
          ? outcome
          : undefined;
      });
      expect(end.snapshot.output).toEqual({ kind: "json", value: { published: true } });
      await adapter.close?.();
    });

    it("names permissions that are enough", async () => {
      const { keys, commands }: { keys: string[]; commands: string[] } = JSON.parse(block("json"));
      await bench.redis.call("ACL", "SETUSER", "bridge", "on", ">secret", ...keys, ...commands);
      const url = bench.url.replace("redis://", "redis://bridge:secret@");
      const adapter = bench.connect({ url, prefix: "bull" });
      const target = adapter.parseTarget({ queue: "reports", options: { delay: 60_000 } });
      const subscription = await adapter.watch(
        { targets: [target], sink: async () => {}, ended: () => {} },
        bench.context(),
      );
      const { ref } = await adapter.start({ key: newKey(), target, input: "{}", attempt: 1 }, bench.context());
      expect(await adapter.inspect([{ ref, want: "detail" }], bench.context())).toMatchObject([
        { snapshot: { status: "queued" } },
      ]);
      const findings = await adapter.check([target], bench.context());
      expect(findings.filter(({ level }) => level === "error")).toEqual([]);
      expect(findings.map(({ message }) => message).join()).toContain("no worker is connected");
      const found: string[] = [];
      for await (const { name } of adapter.discover(undefined, bench.context())) found.push(name);
      expect(found).toEqual(["reports/reports"]);
      await adapter.cancel(ref, "enough", bench.context());
      await adapter.forget(ref, bench.context());
      await subscription.close();
    });
  },
  true,
);
