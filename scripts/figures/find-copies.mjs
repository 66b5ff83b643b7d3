/** @typedef {import("./code-lines.mjs").CodeLine} CodeLine */

/**
 * @typedef {object} Copy
 * @property {string} location `path:line` of the first code line.
 * @property {string} copyOf Where the same lines come first.
 * @property {number} lines How many code lines are the same.
 */

/**
 * Finds runs of code lines that occur more than once. Comments, blank lines, imports and indentation make no difference.
 * @param {readonly { path: string, code: readonly CodeLine[] }[]} files
 * @param {number} min The shortest run that counts.
 * @returns {Copy[]} The longest first.
 */
export function findCopies(files, min) {
  // A line at the end of each file that no other line equals, so that no run goes on from one file to the next.
  const all = files.flatMap(({ path, code }) => [
    ...code.map(({ line, text }) => ({ location: `${path}:${line}`, text })),
    { location: path, text: `\n${path}` },
  ]);
  /** @type {Map<string, number>} */
  const firsts = new Map();
  const originals = all.map((_, index) => {
    const window = all
      .slice(index, index + min)
      .map(({ text }) => text)
      .join("\n");
    const first = firsts.get(window);
    if (first === undefined) firsts.set(window, index);
    return first === undefined || first + min > index ? undefined : first;
  });
  /** @type {Copy[]} */
  const copies = [];
  for (let index = 0; index < all.length; index++) {
    const original = originals[index];
    if (original === undefined) continue;
    let lines = min;
    while (all[index + lines]?.text === all[original + lines]?.text && original + lines < index) lines++;
    copies.push({ location: all[index]?.location ?? "", copyOf: all[original]?.location ?? "", lines });
    index += lines - 1;
  }
  return copies.sort((a, b) => b.lines - a.lines);
}
