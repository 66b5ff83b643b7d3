/** What was sent on a wire, or by a command, and what was answered. */
export interface Exchange {
  readonly wire: string;
  readonly sent: string;
  readonly answer: Readonly<Record<string, unknown>>;
}

/** Clocks say something else in every run. */
const times = /^(createdAt|lastUpdatedAt|updatedAt|endedAt|expiresAt|ttl|ttlMs|pollInterval|pollIntervalMs)$/;

/** Exchanges as a table, without times. `names` stands for what is different in every run. */
export const formatTranscript = (
  title: string,
  exchanges: readonly Exchange[],
  names: ReadonlyMap<string, string>,
): string => {
  const rows = exchanges.map(({ wire, sent, answer }) =>
    [wire, sent, withoutTimes(answer)].map((cell) => rename(cell, names)),
  );
  const table = [["WIRE", "SENT", "ANSWER"], ...rows];
  const widths = [0, 1].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  return `\n${title}\n${lines.join("\n")}\n`;
};

const withoutTimes = (answer: object): string =>
  JSON.stringify(answer, (name, value: unknown) => (times.test(name) ? undefined : value));

const rename = (text: string, names: ReadonlyMap<string, string>): string =>
  [...names].reduce((renamed, [from, to]) => renamed.replaceAll(from, to), text);
