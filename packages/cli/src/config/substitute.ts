import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type ConfigPath, formatPath } from "./config-path.ts";

export interface SubstituteOptions {
  /** What relative paths in `${file:PATH}` are relative to. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface Substituted {
  readonly value: unknown;
  /** Paths, as text, of the strings in which something was replaced. */
  readonly replaced: ReadonlySet<string>;
  /** What was put in from outside the file, and the reference that stands for it in errors and logs. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly faults: readonly { readonly path: ConfigPath; readonly message: string }[];
}

/** Shorter values are too common to be hidden: hiding `3000` would garble every message with that number. */
const shortestSecret = 4;

/** `$${` first: it is how a literal `${` is written. */
const pattern = /\$\$\{|\$\{([^}]*)\}?/g;

/**
 * Replaces `${NAME}`, `${NAME:-default}` (unset or empty) and `${file:PATH}` (without its last line break) in every
 * string of a parsed configuration. What is put in is never looked at again. Settings below `server` other than `auth` and
 * `stateKey` are no secrets: an address must stay readable in a log.
 */
export const substitute = (value: unknown, options: SubstituteOptions): Substituted => {
  const replaced = new Set<string>();
  const secrets = new Map<string, string>();
  const faults: { path: ConfigPath; message: string }[] = [];

  const replaceIn = (text: string, path: ConfigPath): string =>
    text.replaceAll(pattern, (whole: string, reference: string | undefined) => {
      if (reference === undefined) return "${";
      const outcome = whole.endsWith("}")
        ? resolveReference(reference, options)
        : { fault: "the closing } is missing" };
      if ("fault" in outcome) {
        faults.push({ path, message: `${whole}: ${outcome.fault}` });
        return whole;
      }
      replaced.add(formatPath(path));
      if (outcome.foreign && isSecretPath(path) && outcome.text.length >= shortestSecret) {
        secrets.set(outcome.text, whole);
      }
      return outcome.text;
    });

  const walk = (node: unknown, path: ConfigPath): unknown => {
    if (typeof node === "string") return replaceIn(node, path);
    if (Array.isArray(node)) return node.map((item: unknown, index) => walk(item, [...path, index]));
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, walk(member, [...path, name])]));
  };

  return { value: walk(value, []), replaced, secrets, faults };
};

type Reference = { readonly text: string; readonly foreign: boolean } | { readonly fault: string };

const resolveReference = (reference: string, options: SubstituteOptions): Reference => {
  if (reference.startsWith("file:")) return readReference(reference.slice("file:".length), options.directory);
  const [, name = "", fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(reference) ?? [];
  if (name === "") return { fault: "not a reference; $${ writes a literal ${" };
  // It would end at the first }, and the rest be taken for text.
  if (fallback?.includes("${")) return { fault: "defaults cannot hold ${…}" };
  const text = options.environment[name];
  if (text !== undefined && (text !== "" || fallback === undefined)) return { text, foreign: true };
  if (fallback !== undefined) return { text: fallback, foreign: false };
  return { fault: `the environment variable ${name} is not set` };
};

const readReference = (path: string, directory: string): Reference => {
  try {
    return { text: readFileSync(resolve(directory, path), "utf8").replace(/\r?\n$/, ""), foreign: true };
  } catch (error) {
    return { fault: `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? "error"})` };
  }
};

const isSecretPath = (path: ConfigPath): boolean =>
  path[0] !== "server" || path[1] === "auth" || path[1] === "stateKey";
