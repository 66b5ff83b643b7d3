import { readFileSync } from "node:fs";

/** In the header of every file of ours ("TKBR"), so that no other program's file is taken for one. */
export const applicationId = 0x54_4b_42_52;

/** Raised with each change of the schema. A file of any other version is refused. */
export const schemaVersion = 4;

/** Creates everything in an empty file. */
export const schema: string = readFileSync(new URL(`../sql/00000${schemaVersion}.sql`, import.meta.url), "utf8");
