import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { BridgeError, type CallContext, isBridgeError, type StartRequest } from "@taskbridge/core/adapter";
import type { ChangeFeed } from "./change-feed.ts";
import { type JobStage, readStage } from "./inspect-job.ts";
import { claimFolder, type JobSpec, jobFile, jobFolder, noRoomCode, readRecord } from "./job-folder.ts";
import type { ParsedOptions } from "./parse-options.ts";
import type { ProcessTarget } from "./parse-target.ts";
import { thisProcess } from "./process-identity.ts";
import { readReturnReason, readRunClaim } from "./run-claim.ts";
import type { Slots } from "./slots.ts";
import type { Launch, SupervisorLauncher } from "./supervisor-launcher.ts";
import { toError } from "./to-error.ts";

const inherited = ["PATH", "HOME", "LANG", "TMPDIR"];
const pollMs = 50;
const maxLaunches = 3;
const maxRounds = 3;

/** For tests of what a crash leaves behind: told where this process is, and where a supervisor is to die. */
export interface StartHooks {
  reached?(point: "claimed" | "launched"): void;
  readonly supervisorDiesAt?: string;
}

export interface StartTools {
  readonly options: ParsedOptions;
  readonly feed: ChangeFeed;
  readonly launcher: SupervisorLauncher;
  /** Booting more supervisors at once than the processors can take makes every start as slow as the last one. */
  readonly boots: Slots;
  readonly hooks: StartHooks;
}

const sha256 = (...parts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
};

const toEnv = (own: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => {
  const shared = inherited.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(shared), ...own };
};

/** JSON text on one line: a line break in it can only be white space, since strings escape theirs. */
const toLine = (input: string): string => `${input.replace(/[\r\n]/g, " ")}\n`;

const createSpec = async (
  { key, target, input }: StartRequest<ProcessTarget>,
  options: ParsedOptions,
  now: number,
): Promise<JobSpec> => ({
  version: 1,
  key,
  hash: sha256(JSON.stringify(target), input),
  command: target.command,
  cwd: resolve(options.baseDirectory, target.cwd ?? "."),
  givenCwd: target.cwd ?? ".",
  env: toEnv(target.env),
  graceMs: options.graceMs,
  maxOutputBytes: options.maxOutputBytes,
  createdAt: now,
  createdBy: await thisProcess(),
});

/** Takes the key, or agrees that an earlier start of the same work did. */
const claimKey = async (folder: string, spec: JobSpec, input: string): Promise<void> => {
  const files = { [jobFile.spec]: JSON.stringify(spec), [jobFile.input]: toLine(input) };
  for (let round = 0; round < maxRounds; round++) {
    const known = await readRecord<JobSpec>(join(folder, jobFile.spec));
    if (known?.hash === spec.hash) return;
    if (known !== undefined) {
      throw new BridgeError("conflict", `the key ${spec.key} has already started something else`, {
        operation: "start",
      });
    }
    if (await claimFolder(folder, files)) return;
  }
  throw new BridgeError("unavailable", `${folder} is there but holds no job`, { operation: "start", notSent: true });
};

/** A pause that ends early when the job changes. */
const jobAlarm = (feed: ChangeFeed, key: string, signal: AbortSignal) => {
  let rang = false;
  let stopWaiting = (): void => {};
  const ring = (): void => {
    rang = true;
    stopWaiting();
  };
  const silence = feed.listen((changed) => {
    if (changed === key) ring();
  });
  signal.addEventListener("abort", ring);
  return {
    ring,
    async wait(ms: number): Promise<void> {
      if (!rang) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          stopWaiting = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rang = false;
    },
    close(): void {
      silence();
      signal.removeEventListener("abort", ring);
    },
  };
};

const isSettled = (stage: JobStage): boolean =>
  stage.kind === "running" ? stage.state !== undefined : stage.kind !== "unrun" && stage.kind !== "missing";

const isTaken = (stage: JobStage): boolean =>
  stage.kind === "running" || (stage.kind === "unrun" && stage.claimed && stage.busy);

const notBegun = async (folder: string, { code, problem }: NonNullable<Launch["exit"]>): Promise<BridgeError> => {
  const claim = await readRunClaim(folder);
  const returned = claim === undefined ? undefined : await readReturnReason(claim);
  const log = await readFile(join(folder, jobFile.supervisorLog), "utf8").catch(() => "");
  const said = log.trim().split("\n").at(0) || `its supervisor ended with ${code}`;
  const why = code === noRoomCode ? "no space left on the disk" : (problem ?? returned ?? said);
  return new BridgeError("unavailable", `nothing was run: ${why} (${folder})`, { operation: "start", notSent: true });
};

/** Sent again, the start goes on from where it is. */
const givenUp = (folder: string): BridgeError =>
  new BridgeError("outcome_unknown", `given up while the job was being started (${folder})`, { operation: "start" });

/** Sees to it that one supervisor takes the job, and waits until it has spawned the command or refused to. */
const superviseUntilSettled = async (
  folder: string,
  key: string,
  tools: StartTools,
  signal: AbortSignal,
): Promise<JobStage> => {
  const alarm = jobAlarm(tools.feed, key, signal);
  let launched: Launch | undefined;
  try {
    for (let launches = 0; ; ) {
      // Taken before the look: what a supervisor did is on the disk before it is seen to end.
      const exit = launched?.exit;
      const stage = await readStage(folder);
      if (isSettled(stage)) return stage;
      if (signal.aborted) throw givenUp(folder);
      if (stage.kind === "missing") {
        throw new BridgeError("unavailable", `${folder} was removed while the job was being started`, {
          operation: "start",
        });
      }
      if (!isTaken(stage) && (launched === undefined || exit !== undefined)) {
        if (exit !== undefined && (exit.code !== null || launches === maxLaunches)) throw await notBegun(folder, exit);
        launched = tools.launcher.launch(folder, alarm.ring);
        launches++;
        tools.hooks.reached?.("launched");
      }
      await alarm.wait(pollMs);
    }
  } finally {
    alarm.close();
  }
};

/** Starts a job, or finds the one that was started under this key. Rejects with the refusal of a command that cannot be run. */
export const startJob = async (
  request: StartRequest<ProcessTarget>,
  tools: StartTools,
  context: CallContext,
): Promise<JobStage> => {
  const folder = jobFolder(tools.options.directory, request.key);
  if (context.signal.aborted) {
    throw new BridgeError("unavailable", "given up before the start", { operation: "start", notSent: true });
  }
  const spec = await createSpec(request, tools.options, context.now());
  try {
    await claimKey(folder, spec, request.input);
  } catch (error) {
    throw toError(error, "start", folder, { notSent: true });
  }
  tools.hooks.reached?.("claimed");
  const { signal } = context;
  const early = await readStage(folder);
  const stage = isSettled(early)
    ? early
    : await tools.boots
        .hold(() => superviseUntilSettled(folder, request.key, tools, signal), signal)
        .catch((error) => {
          throw signal.aborted && !isBridgeError(error) ? givenUp(folder) : error;
        });
  tools.launcher.keepSpare();
  const refusal = stage.kind === "ended" ? stage.end.refusal : undefined;
  if (refusal === undefined) return stage;
  throw new BridgeError(refusal.code, refusal.message, {
    operation: "start",
    notSent: true,
    data: { path: refusal.path },
  });
};
