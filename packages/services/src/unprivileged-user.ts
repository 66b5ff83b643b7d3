import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface User {
  readonly uid: number;
  readonly gid: number;
}

/** Whom to run a program as that refuses to run as root: nobody else, unless we are root. */
export const findUnprivilegedUser = async (): Promise<User | undefined> => {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ["postgres", "nobody"]) {
    const ids = await Promise.all(["-u", "-g"].map((flag) => run("id", [flag, name]))).catch(() => undefined);
    const [uid, gid] = ids?.map(({ stdout }) => Number(stdout)) ?? [];
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as");
};
