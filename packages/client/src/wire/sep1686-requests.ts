import { randomUUID } from "node:crypto";
import { isTaskClientError } from "../client-error.ts";
import type { Connection } from "../connection.ts";
import type { Members } from "../is-object.ts";
import { toTaskError } from "../to-outcome.ts";
import { relatedMeta } from "./related-task.ts";

/** Requests about tasks of the draft: each says in its `_meta` which task it is about. */
export interface Sep1686Requests {
  about(method: string, taskId: string, signal?: AbortSignal): Promise<Members>;
  /** Whether the server knows the draft at all; where it does not, a call that is sent again runs again. */
  knowsSep1686(): Promise<boolean>;
  /** It has said something that only a server of the draft says. */
  learn(): void;
}

export const sep1686Requests = (connection: Connection): Sep1686Requests => {
  let known: Promise<boolean> | undefined;
  const about: Sep1686Requests["about"] = async (method, taskId, signal) => {
    const params = { taskId, _meta: relatedMeta(taskId) };
    try {
      return await connection.patiently(method, params, signal === undefined ? {} : { signal });
    } catch (error) {
      throw toTaskError(error, taskId, method, true);
    }
  };
  /** Only the draft deletes, so a server that says of an ID that nobody has that there is no such task knows the draft. */
  const probe = async (): Promise<boolean> => {
    try {
      await about("tasks/delete", `probe-${randomUUID()}`);
      // Whoever deletes what is not there may answer anything with a result.
      return false;
    } catch (error) {
      if (isTaskClientError(error, "not_found") || isTaskClientError(error, "expired")) return true;
      if (isTaskClientError(error, "refused")) return false;
      throw error;
    }
  };
  return {
    about,
    learn: () => {
      known = Promise.resolve(true);
    },
    knowsSep1686: () => {
      known ??= probe().catch((error: unknown) => {
        known = undefined;
        throw error;
      });
      return known;
    },
  };
};
