import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** Where a replica of the next version writes down what it has created. */
export const nextLedger = (folder: string): string => join(folder, "next.ledger");

/** IDs of the tasks that it has created; none in a run without such a replica. */
export const readNextTaskIds = async (folder: string): Promise<ReadonlySet<string>> => {
  const text = await readFile(nextLedger(folder), "utf8").catch(() => "");
  return new Set(text.split("\n").filter((line) => line !== ""));
};
