import { createHash } from "node:crypto";

/** Bytes. An index takes no entry of more than 2.7 KB, and the longest ones hold a task's owner and its ID. */
const maxLength = 512;
const maxId = 1_024;
const hashMark = "sha256:";
/** What the mark of a removed task begins with, which stands among the unique keys; its ID follows. Part of the schema. */
const removedMark = "removed:";

/**
 * A text as it stands in a column that is searched: the text itself, or its hash where PostgreSQL could not keep it (too long
 * for an index, a NUL, half a surrogate pair) or it looks like something else.
 */
export const toKey = (text: string): string => {
  const isPlain = ![hashMark, removedMark].some((mark) => text.startsWith(mark));
  const isKept = Buffer.byteLength(text) <= maxLength && isKeepable(text) && isPlain;
  return isKept ? text : hashMark + createHash("sha256").update(JSON.stringify(text)).digest("hex");
};

/** A task's ID as it stands in such a column. Those that are not kept are refused by `create`, and so never found. */
export const toIdKey = (taskId: string): string => (isId(taskId) ? taskId : toKey(taskId));

export const isId = (text: string): boolean => Buffer.byteLength(text) <= maxId && isKeepable(text);

/** Whether the text comes back from a text column as it is. */
const isKeepable = (text: string): boolean => !text.includes("\0") && !/\p{Surrogate}/u.test(text);
