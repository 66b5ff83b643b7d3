import { parseSync } from "@swc/core";

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {boolean} dynamic Only `import()` at run time; a type-only import is as static as any other.
 */

/**
 * Every module that a source file names: `import`, `export … from`, `import()` and `import("…")` types. An `import()` of a
 * computed name is not listed.
 * @param {string} source TypeScript or JavaScript.
 * @returns {Import[]}
 */
export function readImports(source) {
  /** @type {Import[]} */
  const imports = [];
  visit(parseSync(source, { syntax: "typescript", target: "es2022" }), imports);
  return imports;
}

/**
 * @param {unknown} node Any part of swc's syntax tree.
 * @param {Import[]} imports Collected so far.
 */
function visit(node, imports) {
  if (typeof node !== "object" || node === null) return;
  const found = Array.isArray(node) ? undefined : toImport(/** @type {Record<string, unknown>} */ (node));
  if (found !== undefined) imports.push(found);
  for (const child of Object.values(node)) visit(child, imports);
}

/**
 * @param {any} node
 * @returns {Import | undefined}
 */
function toImport(node) {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
      return { specifier: node.source.value, dynamic: false };
    case "ExportNamedDeclaration":
      return node.source ? { specifier: node.source.value, dynamic: false } : undefined;
    case "TsImportType":
      return { specifier: node.argument.value, dynamic: false };
    case "CallExpression": {
      const argument = node.callee.type === "Import" ? node.arguments[0]?.expression : undefined;
      return argument?.type === "StringLiteral" ? { specifier: argument.value, dynamic: true } : undefined;
    }
    default:
      return undefined;
  }
}
