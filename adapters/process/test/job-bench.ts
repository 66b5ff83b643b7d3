import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AnswerRequest,
  asStartKey,
  type CallContext,
  type ExecutionQuestion,
  type ExecutionRef,
  type ExecutionSnapshot,
  type InspectItem,
  type InspectOutcome,
  isEnded,
  type StartKey,
  type StartOutcome,
} from "@taskbridge/core/adapter";
import type { JobState } from "../src/job-folder.ts";
import type { ProcessAdapterOptions } from "../src/parse-options.ts";
import type { ProcessTarget } from "../src/parse-target.ts";
import { buildProcessAdapter, type ProcessAdapter } from "../src/process.ts";
import type { StartHooks } from "../src/start-job.ts";

const deadlineMs = 15_000;

export const context = (signal: AbortSignal = new AbortController().signal): CallContext => ({
  signal,
  now: () => Date.now(),
  log: () => {},
});

export const newKey = (): StartKey => asStartKey(`mcp-${randomBytes(16).toString("hex")}`);

/** Asks until there is an answer, and fails with what was seen last when the deadline passes. */
export const until = async <Value>(
  what: string,
  ask: () => Promise<Value | undefined> | Value | undefined,
): Promise<Value> => {
  const endsAt = performance.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > endsAt) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

export const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return false;
  }
};

/** An adapter on a folder of its own, and short words for what tests do with it. */
export interface JobBench {
  readonly directory: string;
  /** What scripts know as `$JOURNAL`. */
  readonly journal: string;
  readonly adapter: ProcessAdapter;
  /** How many times a command of `counted` has run. */
  runs(): number;
  /** A shell script as a target. `$JOURNAL` is a file of the bench's. */
  sh(script: string): ProcessTarget;
  /** The same, which counts its runs. */
  counted(script: string): ProcessTarget;
  start(target: ProcessTarget, options?: { key?: StartKey; input?: string }): Promise<StartOutcome>;
  inspect(ref: ExecutionRef, want?: InspectItem["want"]): Promise<InspectOutcome>;
  seen(ref: ExecutionRef, fits: (snapshot: ExecutionSnapshot) => boolean): Promise<ExecutionSnapshot>;
  ended(ref: ExecutionRef): Promise<ExecutionSnapshot>;
  notFound(ref: ExecutionRef): Promise<{ proven: boolean; reason: string }>;
  question(ref: ExecutionRef, id?: string): Promise<ExecutionQuestion>;
  answer(ref: ExecutionRef, question: ExecutionQuestion, change?: Partial<AnswerRequest>): Promise<void>;
  folder(ref: ExecutionRef): string;
  file(ref: ExecutionRef, name: string): string;
  state(ref: ExecutionRef): JobState;
  close(): Promise<void>;
}

const killQuietly = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone already.
  }
};

const readOr = (path: string, fallback: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return fallback;
  }
};

/** Ends every process that a bench may have left: those that name its place, and those its jobs have recorded. */
const killAll = (location: string, directory: string): void => {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    if (Number(pid) !== process.pid && readOr(`/proc/${pid}/cmdline`, "").includes(location)) killQuietly(Number(pid));
  }
  for (const key of existsSync(directory) ? readdirSync(directory) : []) {
    const text = readOr(join(directory, key, "state.json"), "");
    if (text === "") continue;
    const state = JSON.parse(text) as JobState;
    if (isAlive(state.supervisor.pid) && state.supervisor.pid !== process.pid) killQuietly(state.supervisor.pid);
    killQuietly(-state.child.pid);
  }
};

export const jobBench = (options: Partial<ProcessAdapterOptions> = {}, hooks: StartHooks = {}): JobBench => {
  const location = mkdtempSync(join(tmpdir(), "taskbridge-process-"));
  const directory = options.directory ?? join(location, "jobs");
  const journal = join(location, "journal");
  const adapter = buildProcessAdapter({ directory, baseDirectory: location, ...options }, hooks);
  const bench: JobBench = {
    directory,
    journal,
    adapter,
    runs() {
      try {
        return readFileSync(journal, "utf8").length;
      } catch {
        return 0;
      }
    },
    sh: (script) => ({ command: ["sh", "-c", script], env: { JOURNAL: journal } }),
    counted: (script) => bench.sh(`printf x >> "$JOURNAL"; ${script}`),
    start: (target, { key = newKey(), input = "{}" } = {}) =>
      adapter.start({ key, target, input, attempt: 1 }, context()),
    async inspect(ref, want = "status") {
      const [outcome] = await adapter.inspect([{ ref, want }], context());
      return outcome as InspectOutcome;
    },
    seen: (ref, fits) =>
      until("a state that fits", async () => {
        const outcome = await bench.inspect(ref);
        if (!("snapshot" in outcome)) throw new Error(`no snapshot: ${JSON.stringify(outcome)}`);
        return fits(outcome.snapshot) ? outcome.snapshot : undefined;
      }),
    ended: (ref) => bench.seen(ref, ({ status }) => isEnded(status)),
    notFound: (ref) =>
      until("not found", async () => {
        const outcome = await bench.inspect(ref);
        return "notFound" in outcome ? outcome.notFound : undefined;
      }),
    async question(ref, id) {
      const { questions } = await bench.seen(ref, (snapshot) =>
        (snapshot.questions ?? []).some((question) => id === undefined || question.id === id),
      );
      return questions?.find((question) => id === undefined || question.id === id) as ExecutionQuestion;
    },
    answer: (ref, question, change) =>
      adapter.answer(
        ref,
        {
          answerId: newKey(),
          attempt: 1,
          question,
          action: "accept",
          ...(change?.action === undefined ? { content: { ok: true } } : {}),
          ...change,
        },
        context(),
      ),
    folder: (ref) => join(directory, (JSON.parse(ref) as { key: string }).key),
    file: (ref, name) => readFileSync(join(bench.folder(ref), name), "utf8"),
    state: (ref) => JSON.parse(bench.file(ref, "state.json")) as JobState,
    async close() {
      await adapter.close();
      // A supervisor that is being ended may add a file at the last moment.
      await until("an empty place", () => {
        killAll(location, directory);
        try {
          rmSync(location, { recursive: true, force: true });
          return true;
        } catch {
          return undefined;
        }
      });
    },
  };
  return bench;
};
