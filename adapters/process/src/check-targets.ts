import { access, constants, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";
import { type CheckFinding, isTemplate } from "@taskbridge/core/adapter";
import type { ParsedOptions } from "./parse-options.ts";
import type { ProcessTarget } from "./parse-target.ts";

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const isProgram = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

const findProgram = async (name: string, cwd: string, path: string): Promise<string | undefined> => {
  const candidates = name.includes("/")
    ? [resolve(cwd, name)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), name));
  for (const candidate of candidates) if (await isProgram(candidate)) return candidate;
  return undefined;
};

const checkTarget = async (
  target: ProcessTarget,
  at: string,
  { baseDirectory }: ParsedOptions,
): Promise<readonly CheckFinding[]> => {
  const cwd = resolve(baseDirectory, target.cwd ?? ".");
  const [program = ""] = target.command;
  if (isTemplate(program) || isTemplate(cwd)) {
    return [
      {
        level: "warning",
        path: `${at}.command`,
        message: "depends on the input, so it cannot be checked before a call",
      },
    ];
  }
  if (!(await isFolder(cwd)))
    return [{ level: "error", path: `${at}.cwd`, message: `no folder ${JSON.stringify(cwd)}` }];
  const path = target.env?.PATH ?? process.env.PATH ?? "";
  const found = await findProgram(program, cwd, path);
  if (found !== undefined) return [{ level: "ok", path: `${at}.command[0]`, message: `runs ${found}` }];
  const where = program.includes("/") ? `in ${cwd}` : `on the PATH ${JSON.stringify(path)}`;
  return [{ level: "error", path: `${at}.command[0]`, message: `no executable ${JSON.stringify(program)} ${where}` }];
};

/** What of these targets can be run here. */
export const checkTargets = async (
  targets: readonly ProcessTarget[],
  options: ParsedOptions,
): Promise<readonly CheckFinding[]> => {
  const findings = await Promise.all(targets.map((target, index) => checkTarget(target, `targets[${index}]`, options)));
  return findings.flat();
};
