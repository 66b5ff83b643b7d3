/** How somebody's claim to a text begins, and how licences speak of such a claim. The bare word is no claim. */
const claims = [
  /\bSPDX-FileCopyrightText\b/,
  /\u00a9/,
  /\bCopyright\s+(?:\(c\)|[\dA-Z[<])/,
  /\bCOPYRIGHT\s+(?:\(C\)|\d)/,
  /\babove\s+copyright\s+notice\b/i,
];

/**
 * The lines of a file that say whose text it is: such a text was copied from elsewhere.
 * @param {string} source
 * @returns {{ line: number, text: string }[]}
 */
export function foreignLines(source) {
  return source
    .split("\n")
    .map((text, index) => ({ line: index + 1, text: text.trim() }))
    .filter(({ text }) => claims.some((claim) => claim.test(text)));
}
