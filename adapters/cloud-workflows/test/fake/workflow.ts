import type { Execution, ExecutionFacts } from "./execution.ts";
import type { Script } from "./script.ts";

export type HistoryLevel =
  | "EXECUTION_HISTORY_LEVEL_UNSPECIFIED"
  | "EXECUTION_HISTORY_BASIC"
  | "EXECUTION_HISTORY_DETAILED";

export interface WorkflowOptions {
  /** Default: the fake's. */
  readonly project?: string;
  /** Default: the fake's. */
  readonly location?: string;
  readonly description?: string;
  /** Executions inherit them. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly executionHistoryLevel?: HistoryLevel;
  /** Default ACTIVE. */
  readonly state?: "ACTIVE" | "UNAVAILABLE";
  /** For who reads it. It is not run. */
  readonly sourceContents?: string;
  /** Workflows that were deployed before there was a history have none until they are deployed anew. Default true. */
  readonly keepsHistory?: boolean;
}

export interface Workflow extends WorkflowOptions {
  readonly id: string;
  /** Project ID and location, as quotas and permissions go by them. */
  readonly project: string;
  readonly location: string;
  /** With the project's ID. */
  readonly name: string;
  readonly createdAt: number;
  readonly revisionId: string;
  readonly scriptOf: (facts: ExecutionFacts) => Script;
  /** In the order of their creation. */
  readonly executions: Execution[];
  readonly byId: Map<string, Execution>;
  /** `key=value` to those that have the label. */
  readonly byLabel: Map<string, Execution[]>;
}
