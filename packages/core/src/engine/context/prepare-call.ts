import type { JsonObject, JsonValue } from "../../contract/json-value.ts";

/** A question that a tool asks before anything starts. */
export interface PrepareQuestion {
  readonly message: string;
  /** JSON Schema of the content that an accepting answer carries. Absent: accepting is all there is to say. */
  readonly schema?: JsonObject;
}

/** What a person said to a question. `decline`: refused; `cancel`: dismissed without saying. */
export interface GivenAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonValue;
}

export type PrepareOutcome =
  /** Ask these, by name, and call again with the answers. Names already answered are not asked again. */
  | { readonly questions: Readonly<Record<string, PrepareQuestion>> }
  /** Start with this input. */
  | { readonly input: JsonObject }
  /** Do not start; the caller is told why. */
  | { readonly refused: string };

/**
 * Decides before a task exists what more must be known. Called anew with each round, with all answers so far, possibly
 * by another process: it must depend on nothing but its arguments.
 */
export type Prepare = (
  input: JsonObject,
  answers: Readonly<Record<string, GivenAnswer>>,
) => PrepareOutcome | Promise<PrepareOutcome>;
