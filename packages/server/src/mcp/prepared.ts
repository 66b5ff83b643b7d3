import type { Result } from "@modelcontextprotocol/server";

/** What has come out of the questions that a tool asks before anything starts. */
export type Prepared =
  /** What to start with. */
  | { readonly input: unknown }
  /** What to answer instead. */
  | { readonly answer: Result };
