import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

/** One boot of one host, as far as a PID means anything in it. */
export interface HostIdentity {
  readonly host: string;
  readonly bootId: string;
  /** Linux only: a PID of another container is somebody else's. */
  readonly pidNamespace?: string;
}

/** A process that no later process with the same PID is taken for. */
export interface ProcessIdentity extends HostIdentity {
  readonly pid: number;
  /** Of the kernel, in its own unit: counted from boot on Linux, so that no clock change touches it. */
  readonly startTime: string;
}

export type Liveness = "alive" | "dead" | "other-boot" | "other-host";

const run = promisify(execFile);

const readHost = async (): Promise<HostIdentity> => {
  if (process.platform !== "linux") {
    const { stdout } = await run("/usr/sbin/sysctl", ["-n", "kern.bootsessionuuid"]);
    return { host: hostname(), bootId: stdout.trim() };
  }
  const [bootId, pidNamespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    readlink("/proc/self/ns/pid"),
  ]);
  return { host: hostname(), bootId: bootId.trim(), pidNamespace };
};

let known: Promise<HostIdentity> | undefined;

/** Where this process runs. */
const thisHost = (): Promise<HostIdentity> => {
  known ??= readHost();
  return known;
};

/** Not asynchronous: the kernel answers at once, and a detour through Node's pool costs ten times as much. */
const readStat = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
};

/** Undefined when no such process runs; a zombie has ended and counts as none. */
export const readStartTime = async (pid: number): Promise<string | undefined> => {
  if (process.platform !== "linux") {
    const listed = await run("/bin/ps", ["-o", "stat=,lstart=", "-p", String(pid)]).catch(() => undefined);
    const line = listed?.stdout.trim() ?? "";
    return line === "" || line.startsWith("Z") ? undefined : line.replace(/^\S+\s+/, "");
  }
  const stat = readStat(pid);
  // proc(5): the second field is a name in parentheses that may itself hold blanks and parentheses; state is field 3, start time field 22.
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
};

export const thisProcess = async (): Promise<ProcessIdentity> => {
  const [host, startTime] = await Promise.all([thisHost(), readStartTime(process.pid)]);
  return { ...host, pid: process.pid, startTime: startTime ?? "" };
};

/** Whether that very process still runs. */
export const findProcess = async (identity: ProcessIdentity): Promise<Liveness> => {
  const here = await thisHost();
  if (identity.host !== here.host) return "other-host";
  if (identity.bootId !== here.bootId) return "other-boot";
  if (identity.pidNamespace !== here.pidNamespace) return "other-host";
  return (await readStartTime(identity.pid)) === identity.startTime ? "alive" : "dead";
};
