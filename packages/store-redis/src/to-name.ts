const mark = "utf16:";

/** Whether the text comes back from Redis as it is: UTF-8 has no half of a surrogate pair, and makes all of them one. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

/** A text as it stands in Redis: different texts stay different. */
export const toName = (text: string): string =>
  isWellFormed(text) && !text.startsWith(mark) ? text : mark + Buffer.from(text, "utf16le").toString("base64url");

/** The text that was made a name. */
export const fromName = (name: string): string =>
  name.startsWith(mark) ? Buffer.from(name.slice(mark.length), "base64url").toString("utf16le") : name;
