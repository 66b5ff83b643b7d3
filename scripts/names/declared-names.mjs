import { parseSync } from "@swc/core";

/** @typedef {{ readonly name: string, readonly line: number }} Declared */

/**
 * The names that a file declares: variables, functions, parameters, types, and members of types and of objects. Names that it
 * only uses are declared elsewhere, and quoted members are no identifiers.
 * @param {string} source TypeScript or JavaScript.
 * @returns {Declared[]} In the order of the file; lines from 1.
 */
export function declaredNames(source) {
  /** @type {Map<number, string>} By where each begins, in bytes from 1. */
  const found = new Map();
  visit(parseSync(source, { syntax: "typescript", target: "es2022" }), found);
  const bytes = Buffer.from(source);
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([start, name]) => ({
      name,
      line: bytes
        .subarray(0, start - 1)
        .toString()
        .split("\n").length,
    }));
}

/**
 * @param {unknown} node Any part of swc's syntax tree.
 * @param {Map<number, string>} found So far.
 */
function visit(node, found) {
  if (typeof node !== "object" || node === null) return;
  const identifier = Array.isArray(node) ? undefined : declaredBy(node);
  if (identifier?.type === "Identifier") found.set(identifier.span.start, identifier.value);
  for (const [key, child] of Object.entries(node)) if (!isAssigned(node, key)) visit(child, found);
}

/**
 * Whether a part of the tree is a variable that is assigned to: the tree has it like one that is declared.
 * @param {any} node
 * @param {string} key
 */
function isAssigned(node, key) {
  return node.type === "AssignmentExpression" && key === "left" && node.left.type === "Identifier";
}

/**
 * @param {any} node
 * @returns {any} The identifier that this node declares, if it does.
 */
function declaredBy(node) {
  switch (node.type) {
    case "Identifier":
      // Only where it is bound, as a variable or a parameter, can it have a type.
      return "typeAnnotation" in node ? node : undefined;
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ClassDeclaration":
    case "ClassExpression":
      return node.identifier;
    case "TsInterfaceDeclaration":
    case "TsTypeAliasDeclaration":
    case "TsEnumDeclaration":
      return node.id;
    case "TsTypeParameter":
      return node.name;
    case "ImportSpecifier":
      return node.imported === null ? undefined : node.local;
    case "AssignmentPatternProperty":
    case "TsPropertySignature":
    case "TsMethodSignature":
    case "ClassProperty":
    case "ClassMethod":
    case "KeyValueProperty":
    case "MethodProperty":
    case "GetterProperty":
    case "SetterProperty":
      return node.key;
    default:
      return undefined;
  }
}
