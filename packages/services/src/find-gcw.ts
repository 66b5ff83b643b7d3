import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findPrograms, isProgram } from "./find-program.ts";

/** What there is of gcw, a Google Cloud Workflows that runs on this machine. */
export type GcwEngine =
  | { readonly kind: "program"; readonly path: string }
  | { readonly kind: "missing"; readonly reason: string };

interface Go {
  readonly path: string;
  /** `go1.26.8`. */
  readonly version: string;
}

const run = promisify(execFile);
/** It compiles Go's own library too, the first time. */
const buildMs = 500_000;
/** As `gcw/go.mod` says. */
const oldest = { major: 1, minor: 22 };
/** From here on Go fetches a newer one of itself, unless it is told not to. */
const fetchesItself = 21;
const sources = fileURLToPath(new URL("../gcw/", import.meta.url));
const cache = fileURLToPath(new URL("../../../.cache/gcw/", import.meta.url));
const name = "gcw";

const findGo = async (): Promise<Go | undefined> => {
  const given = process.env.TASKBRIDGE_GCW_GO;
  const paths = given === undefined || given === "" ? await findPrograms(["go"]) : [given];
  for (const path of paths) {
    // Outside the module, since inside it Go would already fetch what the module wants.
    const told = await run(path, ["env", "GOVERSION", "GOTOOLCHAIN"], { cwd: tmpdir() }).then(
      ({ stdout }) => stdout.trim().split("\n"),
      () => [],
    );
    const [version = "", toolchain = ""] = told;
    const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? [];
    const least = toolchain === "" || toolchain === "local" ? oldest.minor : Math.min(oldest.minor, fetchesItself);
    if (Number(major) === oldest.major && Number(minor) >= least) return { path, version };
  }
  return undefined;
};

/** One folder for each state of the sources and each Go. */
const folderFor = async ({ version }: Go): Promise<string> => {
  const digest = createHash("sha256");
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) {
    digest
      .update(file.slice(sources.length).replaceAll("\\", "/"))
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  }
  return join(cache, `${digest.digest("hex").slice(0, 16)}-${process.platform}-${process.arch}-${version}`);
};

const noGo = (): string => {
  const given = process.env.TASKBRIDGE_GCW_GO ?? "";
  const needed = `no Go ${oldest.major}.${oldest.minor} or newer`;
  return given === "" ? `${needed} on the PATH` : `TASKBRIDGE_GCW_GO is ${given}, which is ${needed}`;
};

/** What is already there; `ensureGcw` builds. */
export const findGcw = async (): Promise<GcwEngine> => {
  const go = await findGo();
  if (go === undefined) return { kind: "missing", reason: noGo() };
  const path = join(await folderFor(go), name);
  if (await isProgram(path)) return { kind: "program", path };
  return { kind: "missing", reason: "gcw is not built in .cache/gcw" };
};

/** Like `findGcw`, but builds it first where it is missing. For one process before the tests. */
export const ensureGcw = async (): Promise<GcwEngine> => {
  const engine = await findGcw();
  if (engine.kind !== "missing") return engine;
  const go = await findGo();
  if (go === undefined) return engine;
  const problem = await build(go);
  return problem === undefined ? findGcw() : { kind: "missing", reason: `${engine.reason}, ${problem}` };
};

/** Beside its final place first, so that a broken build or a second one at the same time does no harm. */
const build = async (go: Go): Promise<string | undefined> => {
  const folder = await folderFor(go);
  console.error("Building gcw, a Google Cloud Workflows for tests, into .cache/gcw: up to a minute …");
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  // Nothing of what is set for somebody's own modules, and no C compiler.
  const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" };
  try {
    await run(go.path, ["build", "-buildvcs=false", "-o", join(draft, name), "."], {
      cwd: sources,
      env,
      timeout: buildMs,
    });
    await rename(draft, folder).catch((error: unknown) => access(folder).catch(() => Promise.reject(error)));
    return undefined;
  } catch (error) {
    return `and Go could not build it: ${toReason(error)}`;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const toReason = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: string; readonly message?: string };
  const lines = (stderr ?? "").split("\n").filter((line) => line !== "" && !/^(#|go: downloading)/.test(line));
  return lines[0] ?? String(message);
};
