import type { ExecutionFailure } from "@taskbridge/core/adapter";
import type { JobEnd } from "./job-folder.ts";

const maxReason = 300;

/** Everything that decides how a job ended. */
export interface EndFacts {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it was stopped, when a stop was sent before it ended by itself. */
  readonly stopped: string | undefined;
  /** What the job itself reported as its failure. */
  readonly reported: ExecutionFailure | undefined;
  readonly stderrTail: string;
  readonly output: NonNullable<JobEnd["output"]>;
  /** Why the output is not all there. */
  readonly missing: string | undefined;
}

/** The last line; of what Node writes of an error that nobody caught, the line of the error. */
const informativeLine = (text: string): string | undefined => {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return /^Node\.js v\d/.test(lines.at(-1) ?? "") ? errorLine(lines.slice(0, -1)) : lines.at(-1);
};

/** It comes below the caret that points into the code. Where the beginning is cut off, it is the line above the stack. */
const errorLine = (lines: readonly string[]): string | undefined => {
  const caret = lines.findLastIndex((line) => /^\^+$/.test(line));
  const stack = lines.findIndex((line) => line.startsWith("at "));
  const line = (caret === -1 ? lines[stack - 1] : lines[caret + 1]) ?? lines.at(-1);
  // An error without a stack is written with its members: `[Error: …] {`.
  return line?.replace(/ \{$/, "");
};

const exitFailure = ({ exitCode, signal, stderrTail }: EndFacts): ExecutionFailure => {
  const how = signal === null ? `exit code ${exitCode}` : `killed by ${signal}`;
  const line = informativeLine(stderrTail);
  return {
    kind: "job",
    reason: (line === undefined ? how : `${how}: ${line}`).slice(0, maxReason),
    code: signal ?? String(exitCode),
    ...(line === undefined ? {} : { detail: stderrTail }),
  };
};

/** How a command that has ended counts. */
export const toEnd = (facts: EndFacts): Pick<JobEnd, "status" | "failure" | "output"> => {
  if (facts.stopped !== undefined) {
    return {
      status: "cancelled",
      failure: { kind: "job", reason: `cancelled: ${facts.stopped}`.slice(0, maxReason) },
    };
  }
  if (facts.reported !== undefined) return { status: "failed", failure: facts.reported };
  if (facts.exitCode !== 0) return { status: "failed", failure: exitFailure(facts) };
  if (facts.missing !== undefined)
    return { status: "failed", failure: { kind: "protocol", reason: facts.missing, code: "output_lost" } };
  return { status: "succeeded", output: facts.output };
};
