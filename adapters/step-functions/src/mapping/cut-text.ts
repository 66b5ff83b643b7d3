/** The first `max` characters (UTF-16 units) of a text, less half a character at the end: AWS and JSON readers refuse those. */
export const cutText = (text: string, max: number): string => text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
