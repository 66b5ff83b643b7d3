import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type JobEnd, jobFile } from "./job-folder.ts";
import { type LimitedFile, limitedFile } from "./limited-file.ts";
import { reportReader } from "./report-reader.ts";
import { utf8Cleaner } from "./utf8-cleaner.ts";

const tailBytes = 4096;

/** Everything a job writes: two logs, and the result. */
export interface JobOutput {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Keeps JSON text as the result. */
  keepResult(json: string): void;
  /** No more will come. What the execution produced, and why it is not all there. */
  end(): { readonly output: NonNullable<JobEnd["output"]>; readonly missing: string | undefined };
  /** The last bytes of stderr, as text. */
  stderrTail(): string;
}

export interface JobOutputOptions {
  readonly folder: string;
  readonly maxBytes: number;
  /** Takes the JSON of a report line; false when it is none. */
  report(json: string): boolean;
  warn(message: string): void;
}

export const jobOutput = ({ folder, maxBytes, report, warn }: JobOutputOptions): JobOutput => {
  const log = limitedFile(join(folder, jobFile.stdout), maxBytes);
  const errors = limitedFile(join(folder, jobFile.stderr), maxBytes);
  const logText = utf8Cleaner();
  const resultDraft = join(folder, ".result");
  const resultFile = join(folder, jobFile.result);
  let resultText = utf8Cleaner();
  let draft: LimitedFile | undefined;
  let head = "";
  let resultBytes: number | undefined;
  let resultLoss: string | undefined;
  let tail: Buffer = Buffer.alloc(0);

  const publishResult = (): string | undefined => {
    try {
      renameSync(resultDraft, resultFile);
      return undefined;
    } catch (error) {
      return String(error);
    }
  };
  const keep = (bytes: number, failed: string | undefined): void => {
    const loss = failed ?? publishResult();
    resultBytes = bytes;
    resultLoss = loss === undefined ? undefined : `the result could not be kept: ${loss}`;
  };
  const beginResult = (line: string): void => {
    head = line;
    resultText = utf8Cleaner();
    draft = limitedFile(resultDraft, maxBytes);
  };
  const endResult = (whole: boolean): void => {
    draft?.write(resultText.end());
    if (draft !== undefined && whole) keep(draft.bytes, draft.lossReason);
    else if (draft !== undefined) {
      warn(`a result line of ${draft.bytes} bytes is not valid JSON`);
      log.write(Buffer.from(head));
      draft.replay((bytes) => log.write(bytes));
    }
    draft?.close();
    draft = undefined;
    rmSync(resultDraft, { force: true });
  };

  /** Whatever goes wrong with one line, the next ones are read. */
  const guarded =
    <Given, Value>(work: (given: Given) => Value, otherwise: Value) =>
    (given: Given): Value => {
      try {
        return work(given);
      } catch (error) {
        warn(`part of the output was not understood: ${String(error)}`);
        return otherwise;
      }
    };
  const reader = reportReader({
    log: (bytes) => log.write(logText.push(bytes)),
    report: guarded(report, false),
    beginResult: guarded(beginResult, undefined),
    resultBytes: (bytes) => draft?.write(resultText.push(bytes)),
    endResult: guarded(endResult, undefined),
  });

  return {
    stdout: (chunk) => reader.push(chunk),
    stderr(chunk) {
      errors.write(chunk);
      tail = Buffer.concat([tail, chunk.subarray(-tailBytes)]).subarray(-tailBytes);
    },
    keepResult(json) {
      const file = limitedFile(resultDraft, maxBytes);
      file.write(Buffer.from(json));
      file.close();
      keep(file.bytes, file.lossReason);
    },
    end() {
      reader.end();
      log.write(logText.end());
      log.close();
      errors.close();
      for (const [name, file] of [["stdout", log] as const, ["stderr", errors] as const]) {
        if (file.lost > 0) warn(`${file.lost} bytes of ${name} are not in the log: ${file.lossReason}`);
      }
      if (resultBytes !== undefined) return { output: { kind: "json", bytes: resultBytes }, missing: resultLoss };
      const missing = log.lost === 0 ? undefined : `the output could not be kept: ${log.lossReason}`;
      return { output: { kind: "text", bytes: log.bytes }, missing };
    },
    stderrTail: () => tail.toString("utf8"),
  };
};
