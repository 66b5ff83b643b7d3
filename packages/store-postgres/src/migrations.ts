import { readFileSync } from "node:fs";

/** What leads from one version of the schema to the next. */
export interface Migration {
  /**
   * The oldest version of the code, told by how many migrations it knows, that can still work with the schema once this has
   * run. A change that takes something away comes two releases after the one that no longer needs it.
   */
  readonly readableBy: number;
  /** Statements, in which `"$schema"` stands for the schema. */
  readonly sql: string;
}

const readSql = (...names: readonly string[]): string =>
  names.map((name) => readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), "utf8")).join("");

/**
 * Entry n leads from schema version n to n + 1. An entry is never edited once released, only followed by others: a store whose
 * entries differ from these is refused.
 */
export const migrations: readonly Migration[] = [
  { readableBy: 1, sql: readSql("000001-tables", "000001-payloads", "000001-tasks") },
];
