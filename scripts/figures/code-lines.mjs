import { extname } from "node:path";
import jsTokens from "js-tokens";

/**
 * A line that counts as code, numbered from 1, without its comments and without space around it.
 * @typedef {{ readonly line: number, readonly text: string }} CodeLine
 */

/** Files that hold code. Others are not counted. */
export const codeExtensions = [".ts", ".mts", ".mjs", ".js", ".lua", ".sql"];

/** Strings first, so that what looks like a comment inside one is found as a part of the string. */
const luaParts =
  /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<comment>--\[(?<level>=*)\[[\s\S]*?\]\k<level>\]|--[^\n]*)|\[(?<depth>=*)\[[\s\S]*?\]\k<depth>\]/g;
const sqlParts = /'[^']*'|"[^"]*"|\$(?<tag>\w*)\$[\s\S]*?\$\k<tag>\$|(?<comment>--[^\n]*|\/\*[\s\S]*?\*\/)/g;

/**
 * The lines of a file without blank lines, comments and imports. Every line of an `import` statement and of an
 * `export … from` statement is an import.
 * @param {string} path Its extension names the language.
 * @param {string} source
 * @returns {CodeLine[]}
 */
export function codeLines(path, source) {
  return withoutComments(extname(path), source)
    .split("\n")
    .map((text, index) => ({ line: index + 1, text: text.trim() }))
    .filter(({ text }) => text !== "");
}

/**
 * @param {string} extension
 * @param {string} source
 */
function withoutComments(extension, source) {
  if (extension === ".lua") return blankComments(source, luaParts);
  if (extension === ".sql") return blankComments(source, sqlParts);
  return scriptCode(source);
}

/**
 * @param {string} source
 * @param {RegExp} parts Its group `comment` is set where it has found a comment.
 */
function blankComments(source, parts) {
  return source.replaceAll(parts, (...found) => (found.at(-1).comment === undefined ? found[0] : lineBreaks(found[0])));
}

/** @param {string} source TypeScript or JavaScript. */
function scriptCode(source) {
  const tokens = [...jsTokens(source)];
  const imported = importTokens(tokens);
  return tokens
    .map(({ type, value }, index) => (type.endsWith("Comment") || imported.has(index) ? lineBreaks(value) : value))
    .join("");
}

/** @param {string} text */
function lineBreaks(text) {
  return text.replaceAll(/[^\n]/g, "");
}

/**
 * Which tokens belong to imports at the top level of a module.
 * @param {readonly import("js-tokens").Token[]} tokens
 * @returns {Set<number>} Indexes.
 */
function importTokens(tokens) {
  /** @type {Set<number>} */
  const imported = new Set();
  const code = tokens.flatMap(({ type, value }, index) =>
    /Comment$|^White|^Line/.test(type) ? [] : [{ type, value, index }],
  );
  let depth = 0;
  for (let at = 0; at < code.length; at++) {
    const end = depth === 0 ? importEnd(code, at) : undefined;
    if (end !== undefined) {
      for (let index = code[at]?.index ?? 0; index <= (code[end]?.index ?? 0); index++) imported.add(index);
      at = end;
    } else if (code[at]?.type === "Punctuator") {
      if (/^[{([]$/.test(code[at]?.value ?? "")) depth++;
      if (/^[})\]]$/.test(code[at]?.value ?? "")) depth--;
    }
  }
  return imported;
}

/**
 * @param {readonly { type: string, value: string }[]} code Without comments and space.
 * @param {number} start
 * @returns {number | undefined} The last token of the import that starts here; undefined: none does.
 */
function importEnd(code, start) {
  /** @param {number} at */
  const valueAt = (at) => code[at]?.value ?? "";
  const keyword = valueAt(start);
  const next = valueAt(start + (valueAt(start + 1) === "type" ? 2 : 1));
  const isImport = keyword === "import" && !["(", "."].includes(valueAt(start + 1));
  if (!isImport && !(keyword === "export" && ["{", "*"].includes(next))) return undefined;
  let end = start + 1;
  while (end < code.length && code[end]?.type !== "StringLiteral" && valueAt(end) !== ";") end++;
  if (code[end]?.type !== "StringLiteral") return undefined;
  if (valueAt(end + 1) === "with") while (end < code.length && valueAt(end) !== "}") end++;
  return valueAt(end + 1) === ";" ? end + 1 : end;
}
