import type { Call } from "./call.ts";
import type { MethodName } from "./routes.ts";

/** What has come of a request. */
export interface CallRecord {
  readonly method: MethodName;
  readonly resource: string;
  /** By the fake's clock. */
  readonly at: number;
  /** Of the answer; 0 when there was none. */
  status: number;
  /** Whether the fake has carried it out. */
  accepted: boolean;
  /** Whether its answer was handed to the connection, which does not say that it has arrived. */
  answered: boolean;
}

/** An execution that a create has really made. */
export interface StartRecord {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly call: CallRecord;
}

export interface MethodCount {
  readonly asked: number;
  readonly accepted: number;
  /** HTTP 429. */
  readonly throttled: number;
  /** With any other error. */
  readonly refused: number;
  /** Carried out and not answered. */
  readonly lost: number;
}

export interface Journal {
  readonly calls: readonly CallRecord[];
  readonly starts: readonly StartRecord[];
  open(call: Call): CallRecord;
  started(start: StartRecord): void;
  count(method: MethodName, since?: number): MethodCount;
}

export const createJournal = (): Journal => {
  const calls: CallRecord[] = [];
  const starts: StartRecord[] = [];
  return {
    calls,
    starts,
    open: ({ method, resource, at }) => {
      const record: CallRecord = { method, resource, at, status: 0, accepted: false, answered: false };
      calls.push(record);
      return record;
    },
    started: (start) => void starts.push(start),
    count: (method, since = 0) => {
      const all = calls.filter((one) => one.method === method && one.at >= since);
      const number = (test: (one: CallRecord) => boolean): number => all.filter(test).length;
      return {
        asked: all.length,
        accepted: number(({ accepted }) => accepted),
        throttled: number(({ status }) => status === 429),
        refused: number(({ status }) => status >= 400 && status !== 429),
        lost: number(({ accepted, answered }) => accepted && !answered),
      };
    },
  };
};
