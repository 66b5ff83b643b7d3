// A store as a replica of the next version would use it, beside replicas of this one: every record that it writes has members
// that this version does not know. Each new one is a line in the file that TASKBRIDGE_CHAOS_NEXT names.
import { appendFileSync } from "node:fs";
import type { CreateStore, TaskRecord } from "@taskbridge/core/store";

const { TASKBRIDGE_CHAOS_NEXT: ledger = "" } = process.env;

/** The package that this stands before, by the scheme of its URLs. */
const packages: Readonly<Record<string, string>> = {
  sqlite: "@taskbridge/store-sqlite",
  redis: "@taskbridge/store-redis",
  postgres: "@taskbridge/store-postgres",
};

/** What only the next version knows, at the top and further in. */
export const nextMember = "nextVersion";
const mark = { since: 2, tags: ["new"] } as const;

const withNext = <Kept extends Omit<TaskRecord, "revision">>(record: Kept): Kept => ({
  ...record,
  [nextMember]: mark,
  policy: { ...record.policy, [nextMember]: mark },
  questions: record.questions.map((question) => ({ ...question, [nextMember]: mark })),
});

/** Whether a record has what the next version has written into it. */
export const hasNext = (record: TaskRecord): boolean => {
  const isMarked = (part: object): boolean =>
    JSON.stringify((part as Readonly<Record<string, unknown>>)[nextMember]) === JSON.stringify(mark);
  return isMarked(record) && isMarked(record.policy);
};

export const createStore: CreateStore = async (url, environment) => {
  const name = packages[url.slice(0, url.indexOf(":"))] ?? "";
  const { createStore: createReal } = (await import(name)) as { readonly createStore: CreateStore };
  const real = await createReal(url, environment);
  return {
    ...real,
    create: async (record, options) => {
      const created = await real.create(withNext(record), options);
      appendFileSync(ledger, `${created.taskId}\n`);
      return created;
    },
    revise: (record, expectedRevision, options) => real.revise(withNext(record), expectedRevision, options),
  };
};
