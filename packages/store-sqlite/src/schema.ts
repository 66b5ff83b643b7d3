import { readFileSync } from "node:fs";

/** In the header of every file of ours ("TKBR"), so that no other program's file is taken for one. */
export const applicationId = 0x54_4b_42_52;

const readSql = (name: string): string => readFileSync(new URL(`../sql/${name}.sql`, import.meta.url), "utf8");

/** Entry n leads from schema version n to n + 1. Entries are never edited once released, only added. */
export const migrations: readonly string[] = ["000001", "000002", "000003"].map(readSql);
