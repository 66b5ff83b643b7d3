import type { JobRow, JobState, QueueRead } from "../redis/client.ts";

type Raw = readonly unknown[];

const toText = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

const toNumber = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};

const toTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

const given = <Name extends string, Value>(name: Name, value: Value | undefined): { readonly [K in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [K in Name]: Value });

/** A row alternates names and values. */
const toRow = (raw: Raw): JobRow => {
  const cells = new Map(raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1]]] : [])));
  const cell = (name: string): unknown => cells.get(name);
  const text = <Name extends keyof JobRow>(name: Name) => given(name, toText(cell(name)));
  const number = <Name extends keyof JobRow>(name: Name) => given(name, toNumber(cell(name)));
  return {
    state: cell("state") as JobState,
    ...text("name"),
    ...text("opts"),
    ...number("processedOn"),
    ...number("finishedOn"),
    attemptsMade: toNumber(cell("attemptsMade")) ?? 0,
    ...text("failedReason"),
    ...text("cancelReason"),
    ...text("goneReason"),
    ...text("question"),
    ...text("answered"),
    ...text("progress"),
    ...text("stacktrace"),
    ...text("returnvalue"),
    returnBytes: toNumber(cell("returnBytes")) ?? 0,
    ...number("dueAt"),
    children: {
      done: toNumber(cell("childrenDone")) ?? 0,
      failed: toNumber(cell("childrenFailed")) ?? 0,
      pending: toNumber(cell("childrenPending")) ?? 0,
    },
    childKeys: toTexts(cell("childKeys")),
  };
};

/** The replies of the script, one for each page of jobs. */
export const toQueueRead = (replies: Raw): QueueRead => {
  const pages = replies as readonly (readonly [exists: number, isPaused: number, rows: readonly Raw[]])[];
  return {
    exists: pages.some(([exists]) => exists === 1),
    isPaused: pages.some(([, isPaused]) => isPaused === 1),
    rows: pages.flatMap(([, , rows]) => rows.map(toRow)),
  };
};
