import { type FSWatcher, statSync, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isKey } from "./execution-ref.ts";

/** Looking by itself (milliseconds): where the system cannot watch, and where it can, in case an event was dropped. */
const pollMs = 100;
const safetyMs = 2000;

/** News of jobs: the key of one whose files have changed. One watched folder, however many jobs and listeners there are. */
export interface ChangeFeed {
  /** Calls `listener` from now on until the result is called. */
  listen(listener: (key: string) => void): () => void;
  close(): void;
}

/** `folder`: the one that holds an empty file per running job, touched at each change and removed at the end. */
export const changeFeed = (folder: string): ChangeFeed => {
  const listeners = new Set<(key: string) => void>();
  const seen = new Map<string, number>();
  let watcher: FSWatcher | undefined;
  let watchedInode: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const notify = (key: string): void => {
    if (isKey(key)) for (const listener of [...listeners]) listener(key);
  };
  const check = async (): Promise<void> => {
    const names = await readdir(folder);
    const times = await Promise.all(
      names.map((name) =>
        stat(join(folder, name)).then(
          (found) => found.mtimeMs,
          () => -1,
        ),
      ),
    );
    for (const key of [...seen.keys()]) {
      if (names.includes(key)) continue;
      seen.delete(key);
      notify(key);
    }
    names.forEach((name, index) => {
      const time = times[index] as number;
      if (seen.get(name) !== time) notify(name);
      seen.set(name, time);
    });
  };
  const unwatch = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  /** A folder that was removed is watched no more, even when there is one of its name again. */
  const unwatchRemoved = (): void => {
    if (statSync(folder, { throwIfNoEntry: false })?.ino !== watchedInode) unwatch();
  };
  const tryToWatch = (): void => {
    try {
      watchedInode = statSync(folder).ino;
      watcher = watch(folder, (_, name) => {
        // So the system tells of the folder itself. Its inode would not do: a successor may be given the same.
        if (name === basename(folder)) checkAgain();
        else if (name !== null) notify(name);
      });
      watcher.on("error", unwatch);
    } catch {
      // No room in the system's tables, or the folder is not there yet: polling goes on.
      unwatch();
    }
  };
  /** One look at a time, and none for a feed that was closed meanwhile. */
  const checkLater = (): void => {
    const mine = setTimeout(
      async () => {
        if (watcher === undefined) tryToWatch();
        else unwatchRemoved();
        await check().catch(() => {});
        if (timer === mine) checkLater();
      },
      watcher === undefined ? pollMs : safetyMs,
    );
    timer = mine;
  };
  /** Goes back to polling, which goes on until there is a folder to watch. */
  const checkAgain = (): void => {
    unwatch();
    clearTimeout(timer);
    checkLater();
  };
  const open = (): void => {
    tryToWatch();
    checkLater();
  };
  const close = (): void => {
    listeners.clear();
    seen.clear();
    unwatch();
    clearTimeout(timer);
    timer = undefined;
  };

  return {
    listen(listener) {
      listeners.add(listener);
      if (listeners.size === 1) open();
      return () => {
        if (listeners.delete(listener) && listeners.size === 0) close();
      };
    },
    close,
  };
};
