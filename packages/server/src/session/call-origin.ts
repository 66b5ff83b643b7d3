import { createHash } from "node:crypto";
import type { RequestId } from "./client-link.ts";

/** Names a session where its ID must not be seen, as in the record of a task. 22 characters. */
export const toSessionName = (sessionId: string): string => digest(sessionId);

/**
 * Names the call that a task was made for in its record (`CreateTask.origin`), for replicas that have not taken it in.
 * `requestId`: of a call that its client takes back by this ID, for as long as it waits.
 */
export const toOrigin = (sessionName: string, requestId?: RequestId): string =>
  requestId === undefined ? sessionName : `${sessionName}/${digest(JSON.stringify(requestId))}`;

/** Whether a task was made for a call of this session. */
export const isOfSession = (origin: string | undefined, sessionName: string): boolean =>
  origin?.split("/")[0] === sessionName;

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);
