import { mkdir, open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import {
  type AdapterTraits,
  BridgeError,
  type CallContext,
  type CheckFinding,
  type ExecutionRef,
  inspectEach,
  misconfigured,
  type OutputChunk,
  type OutputRange,
  type StartOutcome,
  type StartRequest,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import { answerJob } from "./answer-job.ts";
import { cancelJob } from "./cancel-job.ts";
import { changeFeed } from "./change-feed.ts";
import { checkTargets } from "./check-targets.ts";
import { isKey, parseRef, toRef } from "./execution-ref.ts";
import { inspectJob, outputPath, readSnapshot, readStage } from "./inspect-job.ts";
import { eventFolder, jobFolder } from "./job-folder.ts";
import { type ProcessAdapterOptions, parseOptions } from "./parse-options.ts";
import { type ProcessTarget, parseTarget } from "./parse-target.ts";
import { slots } from "./slots.ts";
import { type StartHooks, startJob } from "./start-job.ts";
import { supervisorLauncher } from "./supervisor-launcher.ts";
import { removeJob, sweepEvents, sweepLeftovers } from "./sweep-leftovers.ts";
import { toError } from "./to-error.ts";
import { watchJobs } from "./watch-jobs.ts";

const traits: AdapterTraits = {
  start: { kind: "idempotent", forMs: null },
  cancel: "confirmed",
  minInspectIntervalMs: 250,
  mustInspectWithinMs: null,
  inspectBatch: 200,
  maxPayloadBytes: null,
  retentionMs: null,
  hostBound: true,
  questions: "form",
  progress: "counted",
};

/** Files are read this many jobs at once; more would only queue in Node's own pool. */
const concurrency = 16;
const lookupTimeoutMs = 10_000;

export type ProcessAdapter = WorkflowAdapter<ProcessTarget> &
  Required<
    Pick<
      WorkflowAdapter<ProcessTarget>,
      "inspect" | "cancel" | "answer" | "find" | "watch" | "readOutput" | "forget" | "check" | "close"
    >
  >;

/** The adapter, with a way in for the tests of crashes. */
export const buildProcessAdapter = (given: ProcessAdapterOptions, hooks: StartHooks): ProcessAdapter => {
  if (process.platform !== "linux" && process.platform !== "darwin") {
    throw misconfigured("", `the process adapter runs on Linux and macOS, not on ${process.platform}`);
  }
  const options = parseOptions({ ...given });
  const { directory } = options;
  const feed = changeFeed(eventFolder(directory));
  const launcher = supervisorLauncher(hooks.supervisorDiesAt);
  const boots = slots(2 * availableParallelism());
  let isSwept = false;

  /** Turns errors of the file system into those of the contract. */
  const guarded = async <Value>(operation: string, work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } catch (error) {
      throw toError(error, operation, directory);
    }
  };

  const prepare = async (): Promise<void> => {
    await mkdir(eventFolder(directory), { recursive: true, mode: 0o700 });
    if (isSwept) return;
    isSwept = true;
    void sweepLeftovers(directory).catch(() => {});
  };
  const folderOf = (ref: ExecutionRef): string => jobFolder(directory, parseRef(ref));

  const start = async (request: StartRequest<ProcessTarget>, context: CallContext): Promise<StartOutcome> => {
    if (!isKey(request.key))
      throw new BridgeError("invalid_input", "the start key does not have the shape of one", {
        operation: "start",
        notSent: true,
      });
    const target = parseTarget(request.target);
    await prepare().catch((error: unknown) => {
      throw toError(error, "start", directory, { notSent: true });
    });
    const stage = await startJob({ ...request, target }, { options, feed, launcher, boots, hooks }, context);
    const snapshot = await readSnapshot(jobFolder(directory, request.key), stage);
    return { ref: toRef(request.key), ...(snapshot === undefined ? {} : { snapshot }) };
  };

  const readOutput = async (ref: ExecutionRef, { offset, length }: OutputRange): Promise<OutputChunk> => {
    const folder = folderOf(ref);
    const stage = await readStage(folder);
    const output = stage.kind === "ended" ? stage.end.output : undefined;
    if (output === undefined) throw new BridgeError("not_found", `no output in ${folder}`, { operation: "readOutput" });
    const file = await open(outputPath(folder, output), "r");
    try {
      const bytes = Buffer.alloc(Math.max(0, Math.min(length, output.bytes - offset)));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
      return { bytes: bytes.subarray(0, bytesRead), totalBytes: output.bytes };
    } finally {
      await file.close();
    }
  };

  const forget = async (ref: ExecutionRef): Promise<void> => {
    const folder = folderOf(ref);
    const stage = await readStage(folder);
    if (
      stage.kind === "running" ||
      stage.kind === "orphaned" ||
      (stage.kind === "unrun" && stage.claimed && stage.busy)
    ) {
      throw new BridgeError("conflict", `the job still runs: ${folder}`, { operation: "forget" });
    }
    await removeJob(directory, parseRef(ref));
  };

  const check = async (targets: readonly ProcessTarget[]): Promise<readonly CheckFinding[]> => {
    const problem = await prepare()
      .then(() => sweepLeftovers(directory))
      .then(
        () => undefined,
        (error: unknown) => toError(error, "check", directory).message,
      );
    const finding: CheckFinding =
      problem === undefined
        ? { level: "ok", path: "directory", message: `jobs are kept in ${directory}` }
        : { level: "error", path: "directory", message: problem };
    return [finding, ...(await checkTargets(targets, options))];
  };

  return {
    contract: 1,
    kind: "process",
    traits,
    parseTarget,
    start: (request, context) => guarded("start", () => start(request, context)),
    inspect: inspectEach((item) => guarded("inspect", async () => inspectJob(directory, parseRef(item.ref))), {
      concurrency,
      timeoutMs: lookupTimeoutMs,
    }),
    cancel: (ref, reason) => guarded("cancel", async () => cancelJob(folderOf(ref), parseRef(ref), reason)),
    answer: (ref, request, context) => guarded("answer", async () => answerJob(folderOf(ref), request, context)),
    find: ({ key }) =>
      guarded("find", async () => {
        if (!isKey(key)) return undefined;
        const stage = await readStage(jobFolder(directory, key));
        // Also a job that nobody has run yet: somebody may be about to.
        return stage.kind === "missing" || (stage.kind === "ended" && stage.end.refusal !== undefined)
          ? undefined
          : toRef(key);
      }),
    watch: (request, context) =>
      guarded("watch", async () => {
        await prepare();
        const running = await sweepEvents(directory);
        return watchJobs({ directory, feed, warn: (message) => context.log("warn", message) }, running, request.sink);
      }),
    readOutput: (ref, range) => guarded("readOutput", () => readOutput(ref, range)),
    forget: (ref) => guarded("forget", () => forget(ref)),
    check: (targets) => guarded("check", () => check(targets)),
    async close() {
      feed.close();
      launcher.close();
    },
  };
};

/** Runs local commands as durable jobs. Throws `misconfigured`; touches nothing before the first call. */
export const processAdapter = (options: ProcessAdapterOptions): ProcessAdapter => buildProcessAdapter(options, {});
