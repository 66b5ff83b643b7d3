import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";

const concurrency = 8;

/** The absolute path of a folder below HOUSEKEEPING_ROOT. Refuses to leave the root, also by a link. */
export const openFolder = async (folder) => {
  const root = await realpath(process.env.HOUSEKEEPING_ROOT ?? ".");
  const path = await realpath(resolve(root, folder));
  if (path !== root && !path.startsWith(root + sep)) throw new Error(`${folder} is outside the root folder`);
  return path;
};

/** The files below a folder, as sorted paths with `/`. Links are not followed. */
export const listFiles = async (folder) => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(folder, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join("/"),
    )
    .sort();
};

/** SHA-256 of each file, some at a time. Calls `onFile` after each. */
export const hashFiles = async (folder, files, onFile) => {
  const digests = new Map();
  let totalBytes = 0;
  const waiting = files.values();
  const work = async () => {
    for (const file of waiting) {
      const hash = createHash("sha256");
      await pipeline(createReadStream(join(folder, file), { highWaterMark: 1_048_576 }), async (chunks) => {
        for await (const chunk of chunks) {
          hash.update(chunk);
          totalBytes += chunk.length;
        }
      });
      digests.set(file, hash.digest("hex"));
      onFile(digests.size, file);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { totalBytes, digests: Object.fromEntries(files.map((file) => [file, digests.get(file)])) };
};
