import type { Line } from "./conversation.ts";

/** Members whose values are made up by the server, and what stands for them in a transcript. */
const made: Readonly<Record<string, string>> = {
  taskId: "task",
  requestState: "state",
  nextCursor: "cursor",
  "mcp-session-id": "session",
  id: "request",
};

/** As the server writes an instant. Another form stays as it is, and so is noticed. */
const instant = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;

/**
 * The lines of a transcript: everything as it went over the wire but for IDs, which are numbered as they first appear,
 * and instants, which are numbered as they lie in time: equal ones stay equal, and a later one has a higher number.
 */
export const toTranscript = (lines: readonly Line[]): readonly string[] => {
  const placeholders = new Map([...idPlaceholders(lines), ...instantPlaceholders(lines)]);
  return lines.map((line) => toText(line, placeholders));
};

const toText = ({ text, ...line }: Line, placeholders: ReadonlyMap<string, string>): string => {
  const head = JSON.stringify(line);
  if (text === undefined) return replaceAll(head, placeholders);
  if (text.includes("\n")) throw new Error(`a message of several lines has no place in a transcript: ${text}`);
  return replaceAll(`${head.slice(0, -1)},"message":${text}}`, placeholders);
};

/** The longest first: one value may be the beginning of another. */
const replaceAll = (text: string, placeholders: ReadonlyMap<string, string>): string =>
  [...placeholders]
    .sort(([one], [other]) => other.length - one.length)
    .reduce((result, [value, name]) => result.replaceAll(value, name), text);

const idPlaceholders = (lines: readonly Line[]): ReadonlyMap<string, string> => {
  const placeholders = new Map<string, string>();
  const counts = new Map<string, number>();
  const said = new Set<string>();
  for (const line of lines) {
    for (const [name, value] of membersOf(line)) {
      const kind = made[name];
      // What the client has said before the server was made up by the test, and says something.
      if (line.from === "client") said.add(value);
      if (kind === undefined || said.has(value) || placeholders.has(value)) continue;
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      placeholders.set(value, `<${kind}-${count}>`);
    }
  }
  return placeholders;
};

const membersOf = ({ headers = {}, text }: Line): readonly (readonly [name: string, value: string])[] => {
  const members = Object.entries(headers).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  if (text === undefined) return members;
  JSON.parse(text, (name, value: unknown) => {
    if (typeof value === "string") members.push([name, value]);
    return value;
  });
  return members;
};

const instantPlaceholders = (lines: readonly Line[]): ReadonlyMap<string, string> => {
  const instants = new Set(
    lines.flatMap(({ from, text = "" }) => (from === "server" ? (text.match(instant) ?? []) : [])),
  );
  return new Map([...instants].sort().map((value, index) => [value, `<time-${index + 1}>`]));
};
