import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findPrograms, isProgram } from "./find-program.ts";
import { installWithApt } from "./install-with-apt.ts";

/** What there is of an engine that is a package of Python. */
export type PythonEngine =
  /** A Python that can import it. */
  { readonly kind: "python"; readonly path: string } | { readonly kind: "missing"; readonly reason: string };

/** A package of Python with everything that it needs, in the versions of `<name>-requirements.txt`. */
export interface PythonPackage {
  readonly name: string;
  /** For the line that tells of an installation. */
  readonly description: string;
  /** The environment variable that may name a Python which has the package. */
  readonly variable: string;
}

interface Python {
  readonly path: string;
  /** `3.11`. */
  readonly version: string;
}

const run = promisify(execFile);
const pipMs = 500_000;
const oldest = { major: 3, minor: 11 };
const pythons = ["python3", "python3.14", "python3.13", "python3.12", "python3.11"];
const pinOf = ({ name }: PythonPackage): string =>
  fileURLToPath(new URL(`../${name}-requirements.txt`, import.meta.url));
const cacheOf = ({ name }: PythonPackage): string =>
  fileURLToPath(new URL(`../../../.cache/${name}/`, import.meta.url));
/** Tells its version, and fails where Debian has left `venv` or pip out. */
const probe = "import sys, venv, ensurepip; print(*sys.version_info[:2], sep='.')";

const findPython = async (): Promise<Python | undefined> => {
  for (const path of await findPrograms(pythons)) {
    const version = await run(path, ["-c", probe]).then(
      ({ stdout }) => stdout.trim(),
      () => "",
    );
    const [major, minor] = version.split(".").map(Number);
    if (major === oldest.major && (minor ?? 0) >= oldest.minor) return { path, version };
  }
  return undefined;
};

/** One folder for each list of packages and each Python, since one's packages are not another's. */
const folderFor = async (of: PythonPackage, python: Python): Promise<string> => {
  const digest = createHash("sha256").update(await readFile(pinOf(of)));
  return join(
    cacheOf(of),
    `${digest.digest("hex").slice(0, 16)}-${process.platform}-${process.arch}-py${python.version}`,
  );
};

/** What is already there; `ensurePackage` installs. */
export const findPackage = async (of: PythonPackage): Promise<PythonEngine> => {
  const { name, variable } = of;
  const given = process.env[variable];
  if (given !== undefined && given !== "") {
    if (await isProgram(given)) return { kind: "python", path: given };
    return { kind: "missing", reason: `${variable} is ${given}, which is no program` };
  }
  const python = await findPython();
  const needed = `Python ${oldest.major}.${oldest.minor} or newer with venv and pip`;
  if (python === undefined) return { kind: "missing", reason: `no ${needed} on the PATH` };
  const path = join(await folderFor(of, python), "bin", "python");
  if (await isProgram(path)) return { kind: "python", path };
  return { kind: "missing", reason: `${name} is not installed in .cache/${name}` };
};

/**
 * Like `findPackage`, but installs it first where it is missing, with Python itself where that is missing too (as root, on
 * Debian and its kin). For one process before the tests, which takes a minute the first time.
 */
export const ensurePackage = async (of: PythonPackage): Promise<PythonEngine> => {
  const engine = await findPackage(of);
  if (engine.kind !== "missing" || (process.env[of.variable] ?? "") !== "") return engine;
  let python = await findPython();
  if (python === undefined) {
    const problem = await installWithApt(["python3", "python3-venv"]);
    python = await findPython();
    if (python === undefined) return { kind: "missing", reason: `${engine.reason}, ${problem ?? "nor in Debian"}` };
  }
  const problem = await install(of, python);
  return problem === undefined ? findPackage(of) : { kind: "missing", reason: `${engine.reason}, ${problem}` };
};

/** Beside its final place first, so that a broken install or a second one at the same time does no harm. */
const install = async (of: PythonPackage, python: Python): Promise<string | undefined> => {
  const folder = await folderFor(of, python);
  const cache = cacheOf(of);
  console.error(`Installing ${of.name}, ${of.description}, into .cache/${of.name}: a minute or two …`);
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, "draft-"));
  try {
    await run(python.path, ["-m", "venv", draft]);
    // What is never imported need not be compiled.
    const flags = ["--quiet", "--no-input", "--no-compile", "--only-binary", ":all:", "--requirement", pinOf(of)];
    await run(join(draft, "bin", "python"), ["-m", "pip", "install", ...flags], { timeout: pipMs });
    await rename(draft, folder).catch((error: unknown) => access(folder).catch(() => Promise.reject(error)));
    return undefined;
  } catch (error) {
    return `and pip could not install it: ${toReason(error)}`;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const toReason = (error: unknown): string => {
  const { stderr, message } = error as { readonly stderr?: string; readonly message?: string };
  const [first = String(message)] = (stderr ?? "").split("\n").filter((line) => line.startsWith("ERROR"));
  return first;
};
