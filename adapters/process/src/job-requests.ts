import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { type CancelRecord, jobFile, readRecord } from "./job-folder.ts";
import type { JobRecord } from "./job-record.ts";
import { stopGroup } from "./process-group.ts";
import { readAnswers } from "./question-dispatcher.ts";

/** Requests are signalled; looking by itself this often (milliseconds) only covers a signal that was lost. */
const checkMs = 1000;

export interface JobRequestOptions {
  readonly folder: string;
  /** The command's process group. */
  readonly group: number;
  readonly graceMs: number;
  readonly record: JobRecord;
  readonly stdin: Writable | null;
  hasExited(): boolean;
}

/** What servers ask of a running job: to be stopped, and to take answers. */
export interface JobRequests {
  /** Looks for requests now. */
  check(): void;
  /** Resolves when the last look is over; there will be no other. Why the job was stopped, when it was. */
  end(): Promise<{ readonly reason: string; callOff(): void } | undefined>;
}

export const jobRequests = ({ folder, group, graceMs, record, stdin, hasExited }: JobRequestOptions): JobRequests => {
  let stopped: { readonly reason: string; callOff(): void } | undefined;
  let checking = Promise.resolve();
  let isOver = false;

  const checkCancel = async (): Promise<void> => {
    if (stopped !== undefined || !existsSync(join(folder, jobFile.cancel))) return;
    const request = await readRecord<CancelRecord>(join(folder, jobFile.cancel, "request.json"));
    // A command that ended by itself has its own end.
    if (!hasExited()) stopped = { reason: request?.reason ?? "", callOff: stopGroup(group, graceMs) };
  };
  const checkAnswers = async (): Promise<void> => {
    const answers = record.dispatcher.open().length === 0 ? [] : await readAnswers(folder);
    for (const answer of answers) {
      const line = hasExited() ? undefined : record.dispatcher.accept(answer);
      if (line === undefined) continue;
      stdin?.write(line);
      record.publish(true);
    }
  };
  const check = (): void => {
    if (isOver) return;
    checking = checking
      .then(checkCancel)
      .then(checkAnswers)
      .catch((error: unknown) => record.warn(String(error)));
  };
  const timer = setInterval(check, checkMs);
  return {
    check,
    async end() {
      isOver = true;
      clearInterval(timer);
      await checking;
      return stopped;
    },
  };
};
