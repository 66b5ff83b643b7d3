import type { Writable } from "node:stream";
import { Presets, SingleBar } from "cli-progress";
import { isOver, type TaskStatus } from "../task-source.ts";
import { formatStatus, stateWords } from "./format-task.ts";
import { safeLine } from "./safe-text.ts";

/** Shows a task as it goes on. */
export interface TaskDisplay {
  show(task: TaskStatus): void;
  /** Takes the bar away, to ask or to print something; `show` brings it back. */
  pause(): void;
}

/** A log is not to be flooded by a job that tells every frame (milliseconds). */
const linePauseMs = 1_000;

/** A bar on a terminal, and otherwise a line now and then. Both on stderr. */
export const taskDisplay = (output: Writable & { readonly isTTY?: boolean } = process.stderr): TaskDisplay =>
  output.isTTY === true ? barDisplay(output) : lineDisplay(output);

const lineDisplay = (output: Writable): TaskDisplay => {
  let last = "";
  let lastState: TaskStatus["state"] | undefined;
  let shownAt = 0;
  let later: NodeJS.Timeout | undefined;
  const write = (line: string, state: TaskStatus["state"]): void => {
    output.write(`${line}\n`);
    last = line;
    lastState = state;
    shownAt = Date.now();
  };
  const pause = (): void => clearTimeout(later);
  return {
    show: (task) => {
      pause();
      const { state } = task;
      const line = [stateWords[state], formatStatus(task)].filter(Boolean).join("  ");
      if (line === last) return;
      const waitMs = state === lastState ? shownAt + linePauseMs - Date.now() : 0;
      if (waitMs <= 0) write(line, state);
      else later = setTimeout(write, waitMs, line, state);
    },
    pause,
  };
};

const barDisplay = (output: Writable): TaskDisplay => {
  let bar: SingleBar | undefined;
  const lines = lineDisplay(output);
  const pause = (): void => {
    lines.pause();
    bar?.stop();
    bar = undefined;
  };
  return {
    show: (task) => {
      const { done, total, message } = task.progress ?? {};
      const isStill = isOver(task) || task.state === "waiting" || task.missingSince !== undefined;
      if (isStill || done === undefined || total === undefined) {
        pause();
        lines.show(task);
        return;
      }
      const payload = { note: message === undefined ? stateWords[task.state] : safeLine(message) };
      lines.pause();
      if (bar === undefined) {
        bar = createBar(output);
        bar.start(total, done, payload);
        return;
      }
      bar.setTotal(total);
      bar.update(done, payload);
    },
    pause,
  };
};

const createBar = (output: Writable): SingleBar =>
  new SingleBar(
    {
      stream: output as NodeJS.WritableStream,
      format: "{bar} {value}/{total}  {note}",
      clearOnComplete: true,
      hideCursor: true,
      // We stop it ourselves at every exit, and its own handler would swallow the signal.
      gracefulExit: false,
      barsize: 24,
    },
    Presets.shades_classic,
  );
