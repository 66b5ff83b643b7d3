import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { isProgram } from "./find-program.ts";

const run = promisify(execFile);
const aptMs = 180_000;

/** Installs Debian's packages, where that needs no password. Returns why they could not be, or nothing. */
export const installWithApt = async (packages: readonly string[]): Promise<string | undefined> => {
  if (process.getuid?.() !== 0) return "and it is not installed without being root";
  if (!(await isProgram("/usr/bin/apt-get"))) return "and there is no apt-get to install it with";
  const options = { timeout: aptMs, env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" } };
  try {
    await run("apt-get", ["update", "-qq"], options);
    await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], options);
    return undefined;
  } catch (error) {
    return `and apt-get could not install it: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
  }
};
