import { safeText } from "../terminal/safe-text.ts";
import type { AdapterPipeline } from "./to-tool-entries.ts";

/** A longer cell is shown whole, but does not move the columns of all other rows (characters). */
const widestColumn = 60;

const maxDescription = 60;

/** Pipelines as a table. Targets come last, as one line of JSON each: they are whole, however long. */
export const formatPipelines = (pipelines: readonly AdapterPipeline[]): string => {
  const rows = [["ADAPTER", "NAME", "CONFIGURED AS", "DESCRIPTION", "TARGET"], ...pipelines.map(toRow)];
  const widths = [0, 1, 2, 3].map((column) =>
    rows.reduce((width, row) => Math.max(width, Math.min(row[column]?.length ?? 0, widestColumn)), 0),
  );
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
};

const toRow = ({ adapter, name, configuredAs, description, target }: AdapterPipeline): string[] => [
  adapter,
  oneLine(name),
  configuredAs ?? "",
  shorten(oneLine(description ?? "")),
  safeText(JSON.stringify(target)),
];

const oneLine = (text: string): string => safeText(text).replaceAll(/\s+/g, " ").trim();

const shorten = (text: string): string => {
  const characters = Array.from(text);
  return characters.length <= maxDescription ? text : `${characters.slice(0, maxDescription - 1).join("")}…`;
};
