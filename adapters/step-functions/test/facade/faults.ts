import type { JsonInput } from "./json-wire.ts";

/** What goes wrong from now on. */
export interface Faults {
  /** The connection is cut after the request has been carried out, in place of its answer. */
  readonly losesAnswer?: (action: string, input: JsonInput) => boolean;
  /** The connection is cut and the request not carried out. */
  readonly losesRequest?: (action: string, input: JsonInput) => boolean;
  /** AccessDeniedException for these actions: `["StopExecution"]`. */
  readonly denies?: readonly string[];
  /** ExpiredTokenException for everything. */
  readonly credentialsExpired?: boolean;
  /** ThrottlingException, whatever is left in the buckets. */
  readonly throttles?: (action: string) => boolean;
  /** An HTTP status of the server's own trouble: 500 or 503. */
  readonly fails?: (action: string) => 500 | 503 | undefined;
  /** Requests are taken and answered only when this has ended. */
  readonly isFrozen?: boolean;
}

/** What has come of the requests for one action. */
export interface ActionCount {
  /** All of them. */
  readonly asked: number;
  /** Carried out, whether or not the answer was lost. */
  readonly accepted: number;
  /** By the buckets or by a fault. */
  readonly throttled: number;
  /** With any other error. */
  readonly refused: number;
  /** Cut off, before or after. */
  readonly lost: number;
}

export const noCount: ActionCount = { asked: 0, accepted: 0, throttled: 0, refused: 0, lost: 0 };
