import { createHash } from "node:crypto";
import { BridgeError } from "../../contract/bridge-error.ts";
import { asTaskId, type OwnerId, type TaskId } from "../../contract/identity.ts";
import { invalidInput } from "../../contract/misconfigured.ts";

/** Stands between scope and ID. Not one of the characters that IDs are made of. */
const mark = "~";

/** Whether an ID is one of those that records have for client-minted ones. */
export const isScoped = (taskId: string): boolean => taskId.includes(mark);

/**
 * What an ID that a client minted is called in records and stores: of two owners who chose the same, neither learns of the
 * other. 128 bits of a hash, so that one owner's IDs cannot be made to look like another's.
 */
export const toScopedId = (owner: OwnerId, clientId: string): TaskId =>
  asTaskId(`${createHash("sha256").update(owner).digest("hex").slice(0, 32)}${mark}${clientId}`);

/** The ID as its owner knows it. */
export const toPublicId = (taskId: string): TaskId => asTaskId(taskId.slice(taskId.indexOf(mark) + 1));

/** An ID that a client has chosen, of somebody who can choose one. */
export interface ClientId {
  readonly clientId: string;
  readonly owner: OwnerId;
}

/**
 * Takes an ID that a client wants its task to have. Throws `unsupported` where the client has no owner, since only owners keep
 * such IDs apart, and `invalid_input` with `data.path` for what can be no ID.
 */
export const parseClientId = (value: unknown, owner: OwnerId | null): ClientId => {
  if (owner === null) {
    throw new BridgeError(
      "unsupported",
      "a client can choose a task ID only where callers are authenticated, and this server does not authenticate them",
    );
  }
  if (isClientId(value)) return { clientId: value, owner };
  const needed = "1 to 128 of A-Z a-z 0-9 _ . : - are needed, not dots alone";
  throw invalidInput("taskId", `${needed}, got ${describe(value)}`);
};

/** Whether a client can have chosen it. An ID of dots alone would vanish from the path of a resource's URI. */
export const isClientId = (value: unknown): value is string =>
  typeof value === "string" && /^[\w.:-]{1,128}$/.test(value) && !/^\.+$/.test(value);

/** Short, and nothing that a terminal or a log would obey. */
const describe = (value: unknown): string => {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  if (value.length > 128) return `${value.length} characters`;
  const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replaceAll(/[^ -~]/g, toEscape);
};
