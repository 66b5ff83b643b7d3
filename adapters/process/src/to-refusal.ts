import { access } from "node:fs/promises";
import { errnoOf, type JobSpec, type Refusal } from "./job-folder.ts";

/** Not the command's fault: trying again may succeed. */
const passing = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE", "ETXTBSY", "EIO", "EINTR", "EBUSY"]);

/** Why a command can never be spawned. Undefined when it may be, later. */
export const toRefusal = async (error: unknown, spec: JobSpec): Promise<Refusal | undefined> => {
  const errno = errnoOf(error) ?? "unknown error";
  const [program = ""] = spec.command;
  if (passing.has(errno)) return undefined;
  if (errno === "E2BIG")
    return { code: "invalid_input", path: "command", message: "command: longer than the system allows (E2BIG)" };
  const refuse = (what: string): Refusal => ({
    code: "misconfigured",
    path: "command[0]",
    message: `command[0]: ${what} (${errno})`,
  });
  if (errno === "EACCES" || errno === "EPERM") return refuse(`${JSON.stringify(program)} may not be executed`);
  if (errno !== "ENOENT") return refuse(`${JSON.stringify(program)} cannot be executed`);
  if (!program.includes("/")) return refuse(`no program ${JSON.stringify(program)} on its PATH`);
  const exists = await access(program).then(
    () => true,
    () => false,
  );
  return refuse(
    exists
      ? `the interpreter that ${JSON.stringify(program)} names does not exist`
      : `no program ${JSON.stringify(program)}`,
  );
};
