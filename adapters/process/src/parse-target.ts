import { isObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

/** The command of a tool. Frozen into each task, so that it is JSON and always has the same form. */
export interface ProcessTarget {
  /** Program and arguments; no shell. */
  readonly command: readonly string[];
  /** Folder to run in. Default: the adapter's base directory, which a relative path is relative to. */
  readonly cwd?: string;
  /** Variables beside PATH, HOME, LANG and TMPDIR, which it may replace. */
  readonly env?: Readonly<Record<string, string>>;
}

const parseText = (path: string, value: unknown): string => {
  if (typeof value !== "string") throw misconfigured(path, `must be a string, got ${showValue(value)}`);
  if (value.includes("\0")) throw misconfigured(path, "must not hold a NUL character");
  return value;
};

const parseCommand = (value: unknown): readonly string[] => {
  if (!Array.isArray(value) || value.length === 0) {
    throw misconfigured("command", `must be a list of program and arguments, got ${showValue(value)}`);
  }
  const command = value.map((part, index) => parseText(`command[${index}]`, part));
  if (command[0] === "") throw misconfigured("command[0]", "must name a program");
  return command;
};

const parseEnv = (value: unknown): Readonly<Record<string, string>> => {
  if (!isObject(value)) throw misconfigured("env", `must be a map of name to value, got ${showValue(value)}`);
  const entries = Object.entries(value).map(([name, given]): [string, string] => {
    if (name === "" || /[=\0]/.test(name)) throw misconfigured(`env.${name}`, "is no name of a variable");
    return [name, parseText(`env.${name}`, given)];
  });
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
};

/** Checks the shape of a target. Throws `misconfigured` with `data.path`. */
export const parseTarget = (target: unknown): ProcessTarget => {
  if (!isObject(target)) throw misconfigured("", `must be { command, cwd?, env? }, got ${showValue(target)}`);
  refuseOtherMembers(target, ["command", "cwd", "env"], "", "unknown member");
  const command = parseCommand(target.command);
  const cwd = target.cwd === undefined ? undefined : parseText("cwd", target.cwd);
  if (cwd === "") throw misconfigured("cwd", "must name a folder");
  return {
    command,
    ...(cwd === undefined ? {} : { cwd }),
    ...(target.env === undefined ? {} : { env: parseEnv(target.env) }),
  };
};
