import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";
import { ConfigError, type ConfigFault } from "./config-error.ts";
import type { ConfigPath } from "./config-path.ts";

/** A line and column of the file, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface ParsedYaml {
  readonly value: unknown;
  /** Where a value is written, or else the nearest thing around it that is. */
  locate(path: ConfigPath): Position;
}

/** Reads YAML 1.2 with the core schema, so that `2026-07-28` stays text. Throws a ConfigError with every syntax fault. */
export const parseYaml = (file: string, text: string): ParsedYaml => {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2", schema: "core", prettyErrors: false });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const problems = [
    ...[...document.errors, ...document.warnings].map(({ message, pos }) => ({ message, offset: pos[0] })),
    ...findUnusable(document),
  ];
  if (problems.length > 0) {
    const faults = problems.map(
      ({ message, offset }): ConfigFault => ({ path: [], message: sentence(message), ...positionAt(offset) }),
    );
    throw new ConfigError(file, faults);
  }
  return {
    value: expandAliases(
      document,
      (offset, message) => new ConfigError(file, [{ path: [], message, ...positionAt(offset) }]),
    ),
    locate: (path) => positionAt(offsetOf(document, path)),
  };
};

/** The library refuses aliases of aliases that multiply (https://en.wikipedia.org/wiki/Billion_laughs_attack). */
const expandAliases = (document: Document, fault: (offset: number, message: string) => ConfigError): unknown => {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    let first = 0;
    visit(document, {
      Alias: (_key, alias) => {
        first = startOf(alias);
        return visit.BREAK;
      },
    });
    throw fault(first, "the aliases of this file stand for too much: write it out");
  }
};

/** What YAML allows and a configuration cannot be: an alias of nothing or of itself, a member name that is not one. */
const findUnusable = (document: Document): { message: string; offset: number }[] => {
  const found: { message: string; offset: number }[] = [];
  visit(document, {
    Alias: (_key, alias, ancestors) => {
      const meant = alias.resolve(document);
      if (meant === undefined) {
        found.push({ message: `there is no anchor &${alias.source} before this alias`, offset: startOf(alias) });
      } else if (ancestors.includes(meant)) {
        found.push({ message: `this alias is within what &${alias.source} stands for`, offset: startOf(alias) });
      }
    },
    Pair: (_key, pair) => {
      if (isNode(pair.key) && !isScalar(pair.key)) {
        found.push({ message: "a member name must be text", offset: pair.key.range?.[0] ?? 0 });
      }
    },
  });
  return found;
};

const offsetOf = (document: Document, path: ConfigPath): number => {
  let node: unknown = document.contents;
  let offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    const child = childOf(node, part);
    if (child === undefined) return offset;
    offset = child.offset;
    node = child.node;
  }
  return offset;
};

const childOf = (node: unknown, part: string | number): { node: unknown; offset: number } | undefined => {
  if (isSeq(node)) {
    const item = node.items[Number(part)];
    return isNode(item) ? { node: item, offset: startOf(item) } : undefined;
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return isPair(pair) && isScalar(pair.key) ? { node: pair.value, offset: startOf(pair.key) } : undefined;
};

const startOf = (node: Node): number => node.range?.[0] ?? 0;

/** The library's messages begin with a capital and end anyhow; ours follow a path. */
const sentence = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, "");
