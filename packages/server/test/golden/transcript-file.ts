import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { sep } from "node:path";

const folder = new URL("transcripts/", import.meta.url);

/** Set: transcripts are written instead of compared. */
const records = process.env.TASKBRIDGE_RECORD_GOLDEN === "1";

/** Compares a conversation with its file, `<wire>/<scenario>`, or writes the file. Throws at the first line that differs. */
export const matchTranscript = (name: string, lines: readonly string[]): void => {
  const file = new URL(`${name}.jsonl`, folder);
  const text = lines.map((line) => `${line}\n`).join("");
  if (records) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, text);
    return;
  }
  const difference = findDifference(readTranscript(name), text);
  if (difference === undefined) return;
  throw new Error(`transcripts/${name}.jsonl ${difference}\nTASKBRIDGE_RECORD_GOLDEN=1 writes it anew.`);
};

/** The first line that differs, as expected and as it is now; undefined when every byte is the same. */
export const findDifference = (expected: string | undefined, got: string): string | undefined => {
  if (expected === undefined) return "does not exist.";
  if (expected === got) return undefined;
  const [before, after] = [expected.split("\n"), got.split("\n")];
  const index = before.findIndex((line, at) => line !== after[at]);
  const at = index === -1 ? before.length : index;
  return `differs in line ${at + 1}:\n- ${before[at] ?? "(no line)"}\n+ ${after[at] ?? "(no line)"}`;
};

/** The text of a file, or undefined. */
export const readTranscript = (name: string): string | undefined =>
  listTranscripts().includes(name) ? readFileSync(new URL(`${name}.jsonl`, folder), "utf8") : undefined;

/** Names of all the files there are: `<wire>/<scenario>`. */
export const listTranscripts = (): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".jsonl"))
    .map((path) => path.slice(0, -".jsonl".length).split(sep).join("/"))
    .sort();
