import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { eventFile, type JobEnd, type JobState, jobFile } from "./job-folder.ts";

/** Room that the end record is sure to have, so that a disk that fills up later cannot swallow the end. */
const endRoom = 16 * 1024;
const writesPerSecond = 20;
const retryEndMs = 500;
const retryEndForMs = 30_000;

/** What the supervisor tells the world: the state as it changes, and one end. */
export interface JobJournal {
  /** `urgent`: now; else at most 20 times a second, the last one always. A state that cannot be written is tried again with the next. */
  publish(state: () => JobState, urgent: boolean): void;
  /** Resolves once the end is durable, or when the disk has refused it for half a minute. */
  end(end: JobEnd): Promise<void>;
}

const replace = (path: string, content: string): void => {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
};

const canWrite = (entry: unknown): boolean => {
  try {
    JSON.stringify(entry);
    return true;
  } catch {
    return false;
  }
};

/** A question that cannot be written is left out, so that it holds up nothing else. */
const toText = (state: JobState): string =>
  JSON.stringify(canWrite(state) ? state : { ...state, questions: state.questions.filter(canWrite) });

const syncFolderSync = (path: string): void => {
  const folder = openSync(path, "r");
  fsyncSync(folder);
  closeSync(folder);
};

export const jobJournal = (folder: string, key: string): JobJournal => {
  const event = eventFile(folder, key);
  const endDraft = join(folder, `.end-${process.pid}`);
  const endHandle = openSync(endDraft, "wx+", 0o600);
  writeSync(endHandle, Buffer.alloc(endRoom, " "), 0, endRoom, 0);
  closeSync(openSync(event, "a", 0o600));

  let timer: NodeJS.Timeout | undefined;
  let latest: (() => JobState) | undefined;
  let lastAt = Number.NEGATIVE_INFINITY;

  const touch = (): void => {
    const now = new Date();
    utimesSync(event, now, now);
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    lastAt = performance.now();
    if (latest === undefined) return;
    try {
      replace(join(folder, jobFile.state), toText(latest()));
      latest = undefined;
      touch();
    } catch {
      // A full disk: the state that is there stays true, only older.
      timer = setTimeout(flush, retryEndMs);
    }
  };
  const writeEnd = (end: JobEnd): void => {
    const text = Buffer.from(JSON.stringify(end));
    if (writeSync(endHandle, text, 0, text.length, 0) < text.length) throw new Error("no room for all of it");
    ftruncateSync(endHandle, text.length);
    fsyncSync(endHandle);
    renameSync(endDraft, join(folder, jobFile.end));
    syncFolderSync(folder);
  };
  /** Without what may be long: fits the room that is there already. */
  const shorten = ({ failure, progress: _, warnings: __, ...end }: JobEnd): JobEnd => ({
    ...end,
    ...(failure === undefined ? {} : { failure: { kind: failure.kind, reason: failure.reason.slice(0, 500) } }),
    unanswered: end.unanswered.slice(0, 20),
    warnings: [],
  });

  return {
    publish(state, urgent) {
      latest = state;
      const wait = lastAt + 1000 / writesPerSecond - performance.now();
      if (urgent || wait <= 0) flush();
      else timer ??= setTimeout(flush, wait);
    },
    async end(end) {
      clearTimeout(timer);
      latest = undefined;
      const giveUpAt = performance.now() + retryEndForMs;
      for (let record = end; ; record = shorten(end)) {
        try {
          writeEnd(record);
          break;
        } catch {
          if (performance.now() > giveUpAt) break;
          await new Promise((resolve) => setTimeout(resolve, retryEndMs));
        }
      }
      rmSync(event, { force: true });
    },
  };
};

/** Leaves nothing of a journal whose job was not begun. */
export const dropJournal = (folder: string, key: string): void => {
  rmSync(join(folder, `.end-${process.pid}`), { force: true });
  try {
    unlinkSync(eventFile(folder, key));
  } catch {
    // It was never there.
  }
};
