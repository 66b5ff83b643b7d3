/** The first `most` characters (UTF-16 units) of a text, less half a character at the end: AWS and JSON readers refuse those. */
export const cutText = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "");
