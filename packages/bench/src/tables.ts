import type { Figures } from "./latencies.ts";
import type { SizeFigures, StoreFigures } from "./measure-store.ts";

type Row = readonly string[];

/** Markdown, its columns aligned. */
export const toTable = (head: Row, rows: readonly Row[]): string => {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const line = (cells: Row): string =>
    `| ${widths.map((width, column) => (column === 0 ? (cells[column] ?? "").padEnd(width) : (cells[column] ?? "").padStart(width))).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...rows.map(line)].join("\n");
};

const milliseconds = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));
const whole = (value: number): string =>
  Math.round(value)
    .toString()
    .replaceAll(/\B(?=(\d{3})+$)/g, ",");

/** All that was measured of one kind of store, for people. */
export const toStoreReport = (figures: StoreFigures): string => {
  const parts = [`### ${figures.store} (${figures.durability})`, sizesTable(figures.sizes), verbsTable(figures.sizes)];
  return [...parts, ...purgeLines(figures)].filter((part) => part !== "").join("\n\n");
};

const sizesTable = (sizes: readonly SizeFigures[]): string =>
  toTable(
    ["records", "seeded in", "memory per task", "disk per task"],
    sizes.map((size) => [
      whole(size.records),
      `${whole(size.seedSeconds)} s`,
      size.memoryBytesPerTask === undefined ? "" : `${whole(size.memoryBytesPerTask)} B`,
      size.diskBytesPerTask === undefined ? "" : `${whole(size.diskBytesPerTask)} B`,
    ]),
  );

const verbsTable = (sizes: readonly SizeFigures[]): string => {
  const few = sizes[0];
  const many = sizes.at(-1);
  if (few === undefined || many === undefined || many.verbs.length === 0) return "";
  const both = `${whole(few.records)} → ${whole(many.records)}`;
  const pair = (one: number, other: number): string => `${milliseconds(one)} → ${milliseconds(other)}`;
  const rows = many.verbs.map(({ verb, sequential, concurrent, atOnce }, index): Row => {
    const before = few.verbs[index];
    if (before === undefined) throw new Error(`${verb} was not measured with ${few.records} records`);
    return [
      verb,
      whole(sequential.count),
      pair(before.sequential.p50Ms, sequential.p50Ms),
      (sequential.p50Ms / before.sequential.p50Ms).toFixed(1),
      pair(before.sequential.p99Ms, sequential.p99Ms),
      (sequential.p99Ms / before.sequential.p99Ms).toFixed(1),
      String(atOnce),
      pair(before.concurrent.p99Ms, concurrent.p99Ms),
      (concurrent.p99Ms / before.concurrent.p99Ms).toFixed(1),
      `${whole(before.concurrent.perSecond)} → ${whole(concurrent.perSecond)}`,
    ];
  });
  const head = ["calls", "p50 ms", "ratio", "p99 ms", "ratio", "at once", "p99 ms", "ratio", "per second"];
  return toTable([`${both}`, ...head], rows);
};

const purgeLines = ({ sizes, purge }: StoreFigures): readonly string[] => {
  if (purge === undefined) return [];
  const row = (name: string, { count, p50Ms, p99Ms, maxMs }: Figures): Row => [
    name,
    whole(count),
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    milliseconds(maxMs),
  ];
  const kept = whole(sizes.at(-1)?.records ?? 0);
  const reported = `${purge.replicas} engines purged ${whole(purge.expired)} expired records out of a store with ${kept} more, ${whole(purge.removedPerSecond)} in a second; reads meanwhile, 50 a second:`;
  const rows = [row("before", purge.before), row("during", purge.during)];
  return [reported, toTable(["", "reads", "p50 ms", "p99 ms", "longest ms"], rows)];
};
