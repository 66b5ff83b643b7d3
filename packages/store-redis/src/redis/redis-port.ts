import { createHash } from "node:crypto";

export type Argument = string | number | Uint8Array;
export type Reply = string | number | Buffer | null | readonly Reply[];

/** A Lua script, sent by its hash where the server may have it. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

/** The hash tells one version's scripts from another's, so that both are there side by side. */
export const script = (lua: string): Script => ({ lua, sha: createHash("sha1").update(lua).digest("hex") });

export type Command =
  | { readonly call: readonly [name: Lowercase<string>, key: string, ...Argument[]] }
  | {
      readonly script: Script;
      readonly keys: readonly string[];
      readonly args: readonly Argument[];
      /** Replies with bytes, where others reply with text. */
      readonly asBytes?: true;
    }
  | ForEach;

/**
 * Runs a script for many places: one call where they are on one server, else one for each. The script gets the keys of all
 * its places, one place after the other, then the first arguments, then those of each place, and replies a list with one reply for each.
 */
export interface ForEach {
  readonly forEach: Script;
  readonly locations: readonly { readonly keys: readonly string[]; readonly args: readonly Argument[] }[];
  readonly first: readonly Argument[];
}

/** One call of a verb of the store, for all its round trips. */
export interface Call {
  /** The verb. */
  readonly operation: string;
  /** Until when it must be answered: milliseconds of `performance.now()`. */
  readonly endsAt: number;
  /** Where a number of replicas is waited for: this call is to wait for them. */
  readonly isDurable: boolean;
}

/** The little that the store asks of Redis. */
export interface RedisPort {
  /**
   * Sends commands and resolves with their replies, in their order. Those of one stage may be carried out in any order, those of the
   * next stage are after them, whether those are carried out or refused: for one server all go at once. Rejects with `unavailable` when no answer comes in time (each
   * command may have been carried out nevertheless), and with what Redis has refused.
   */
  send(call: Call, ...stages: readonly (readonly Command[])[]): Promise<Reply[]>;
}
