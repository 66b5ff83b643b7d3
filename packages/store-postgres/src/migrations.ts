import { createPayloadFunctions } from "./payload-functions-1.ts";
import { createTables } from "./tables-1.ts";
import { createTaskFunctions } from "./task-functions-1.ts";
import { createRemovedIds } from "./task-functions-2.ts";

/** What leads from one version of the schema to the next. */
export interface Migration {
  /**
   * The oldest version of the code, told by how many migrations it knows, that can still work with the schema once this has
   * run. A change that takes something away comes two releases after the one that no longer needs it.
   */
  readonly readableBy: number;
  /** Statements; `schema` is a quoted identifier. */
  readonly sql: (schema: string) => string;
}

/** Entry n leads from schema version n to n + 1. Entries are never edited once released, only added. */
export const migrations: readonly Migration[] = [
  {
    readableBy: 1,
    sql: (schema) => createTables(schema) + createPayloadFunctions(schema) + createTaskFunctions(schema),
  },
  { readableBy: 1, sql: createRemovedIds },
];
