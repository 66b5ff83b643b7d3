import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isBridgeError, type JsonObject } from "@taskbridge/core/adapter";
import { checkSchema } from "./check-schema.ts";
import { closestName } from "./closest-name.ts";
import { type AdapterEntry, type Config, defaultStore, type StoreEntry, type ToolEntry } from "./config.ts";
import { ConfigError } from "./config-error.ts";
import { type ConfigPath, formatPath, parsePath } from "./config-path.ts";
import { type ParsedYaml, parseYaml } from "./parse-yaml.ts";
import { type Substituted, substitute } from "./substitute.ts";

interface Fault {
  readonly path: ConfigPath;
  readonly message: string;
}

/** Reads a configuration file and checks all that can be checked without loading an adapter. Throws a ConfigError. */
export const loadConfig = (
  file: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config => {
  const parsed = parseYaml(file, readText(file));
  const directory = dirname(resolve(file));
  const substituted = substitute(parsed.value, { directory, environment });
  refuse(file, parsed, substituted.faults);
  if (substituted.value === null || substituted.value === undefined) {
    throw new ConfigError(file, [{ path: [], message: "the file is empty" }]);
  }
  refuse(file, parsed, checkSchema(substituted.value, substituted.replaced));

  const config = toConfig(file, directory, parsed, substituted);
  refuse(file, parsed, checkReferences(config));
  return config;
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message =
      code === "ENOENT" ? "there is no such file; `taskbridge init` writes one" : `cannot be read (${code})`;
    throw new ConfigError(file, [{ path: [], message }]);
  }
};

const refuse = (file: string, parsed: ParsedYaml, faults: readonly Fault[]): void => {
  if (faults.length === 0) return;
  const located = faults.map((fault) => ({ ...fault, ...parsed.locate(fault.path) }));
  throw new ConfigError(
    file,
    located.sort((a, b) => a.line - b.line),
  );
};

type WrittenStore = string | (JsonObject & { readonly url: string });

const toStore = (written: WrittenStore = defaultStore): StoreEntry => {
  if (typeof written === "string") return { url: written, path: ["store"], options: {} };
  const { url, ...options } = written;
  return { url, path: ["store", "url"], options };
};

const toConfig = (file: string, directory: string, parsed: ParsedYaml, { value, secrets }: Substituted): Config => {
  // The schema has vouched for the shape.
  const content = value as Partial<Omit<Config, "store">> &
    Pick<Config, "adapters" | "tools"> & { readonly store?: WrittenStore };
  const redact = (text: string): string => hide(text, secrets);
  const fault = (path: ConfigPath, message: string): ConfigError =>
    new ConfigError(file, [{ path, message: redact(message), ...parsed.locate(path) }]);
  return {
    file,
    directory,
    server: content.server ?? {},
    store: toStore(content.store),
    adapters: content.adapters,
    tools: content.tools,
    limits: content.limits ?? {},
    fault,
    rebase: (error, prefix) => {
      const { path, message } = readFault(error);
      const location = isWithin(path, prefix) ? path : [...prefix, ...path];
      return fault(location, message);
    },
    redact,
  };
};

/** What an adapter or the engine says, without the path that it may have put before its message. */
const readFault = (error: unknown): Fault => {
  const message = error instanceof Error ? error.message : String(error);
  const named = isBridgeError(error) ? error.data?.["path"] : undefined;
  if (typeof named !== "string") return { path: [], message };
  return {
    path: parsePath(named),
    message: message.startsWith(`${named}: `) ? message.slice(named.length + 2) : message,
  };
};

const isWithin = (path: ConfigPath, prefix: ConfigPath): boolean =>
  path.length > 0 && formatPath(path.slice(0, prefix.length)) === formatPath(prefix);

const hide = (text: string, secrets: ReadonlyMap<string, string>): string =>
  [...secrets]
    .sort(([a], [b]) => b.length - a.length)
    .reduce((hidden, [secret, reference]) => {
      // Also as it looks inside JSON, where a quote or a line break is escaped.
      const escaped = JSON.stringify(secret).slice(1, -1);
      return hidden.replaceAll(secret, reference).replaceAll(escaped, reference);
    }, text);

/** What a schema cannot say: names that refer to other entries. */
const checkReferences = ({ adapters, tools }: Config): Fault[] =>
  tools.flatMap((tool, index) => checkTool(tool, index, adapters, tools));

const checkTool = (
  { name, adapter }: ToolEntry,
  index: number,
  adapters: Readonly<Record<string, AdapterEntry>>,
  tools: readonly ToolEntry[],
): Fault[] => {
  const faults: Fault[] = [];
  const first = tools.findIndex((other) => other.name === name);
  if (first !== index) faults.push({ path: ["tools", index, "name"], message: `${name} is also tools[${first}]` });
  if (!Object.hasOwn(adapters, adapter)) {
    const known = Object.keys(adapters);
    const meant = closestName(adapter, known);
    const hint = meant === undefined ? `known: ${known.join(", ")}` : `did you mean ${meant}?`;
    faults.push({ path: ["tools", index, "adapter"], message: `there is no adapter "${adapter}"; ${hint}` });
  }
  return faults;
};
