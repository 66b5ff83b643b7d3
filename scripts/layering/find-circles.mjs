/**
 * The groups of nodes that reach each other: each group is one circle, or several that share a node.
 * @param {ReadonlyMap<string, readonly string[]>} graph Which node points to which; names that are no key are left out.
 * @returns {string[][]} Sorted, as are the nodes of each group.
 */
export function findCircles(graph) {
  const reached = new Map([...graph.keys()].map((node) => [node, reachableFrom(node, graph)]));
  /** @param {string} node */
  const groupOf = (node) => [...(reached.get(node) ?? [])].filter((other) => reached.get(other)?.has(node)).sort();
  return [...graph.keys()]
    .sort()
    .map((node) => ({ node, group: groupOf(node) }))
    .filter(({ node, group }) => group[0] === node)
    .map(({ group }) => group);
}

/**
 * @param {string} start
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {Set<string>} The start itself only if there is a way back to it.
 */
function reachableFrom(start, graph) {
  /** @type {Set<string>} */
  const reached = new Set();
  const open = [...(graph.get(start) ?? [])];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (reached.has(node) || !graph.has(node)) continue;
    reached.add(node);
    open.push(...(graph.get(node) ?? []));
  }
  return reached;
}
