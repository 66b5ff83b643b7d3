import { parseSync } from "@swc/core";

/** MCP's own member of messages, which is public. */
const publicNames = new Set(["_meta"]);

/**
 * The names of private members of other code that a file reads, writes or describes: those that begin with an underscore,
 * which is how the MCP SDKs mark them and nothing of ours is named.
 * @param {string} source TypeScript or JavaScript.
 * @returns {string[]} One for each place.
 */
export function privateMembers(source) {
  /** @type {string[]} */
  const names = [];
  visit(parseSync(source, { syntax: "typescript", target: "es2022" }), names);
  return names.filter((name) => /^_[a-z]/i.test(name) && !publicNames.has(name));
}

/**
 * @param {unknown} node Any part of swc's syntax tree.
 * @param {string[]} names Collected so far.
 */
function visit(node, names) {
  if (typeof node !== "object" || node === null) return;
  const name = Array.isArray(node) ? undefined : memberName(node);
  if (name !== undefined) names.push(name);
  for (const child of Object.values(node)) visit(child, names);
}

/**
 * @param {any} node
 * @returns {string | undefined}
 */
function memberName(node) {
  switch (node.type) {
    case "MemberExpression":
      return node.property.type === "Computed" ? node.property.expression.value : node.property.value;
    case "TsPropertySignature":
    case "TsMethodSignature":
    case "KeyValuePatternProperty":
      return node.key.value;
    case "AssignmentPatternProperty":
      return node.key.value;
    default:
      return undefined;
  }
}
