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

/** SHA-256 of each file, some at a time. Files that vanish meanwhile are left out. Calls `onFile` after each. */
export const hashFiles = async (folder, files, onFile) => {
  const digests = new Map();
  let totalBytes = 0;
  let done = 0;
  const waiting = files.values();
  const work = async () => {
    for (const file of waiting) {
      const hashed = await hashFile(join(folder, file));
      if (hashed !== undefined) {
        digests.set(file, hashed.digest);
        totalBytes += hashed.bytes;
      }
      done += 1;
      onFile(done, file);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const present = files.filter((file) => digests.has(file));
  return { totalBytes, digests: Object.fromEntries(present.map((file) => [file, digests.get(file)])) };
};

const hashFile = async (path) => {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    await pipeline(createReadStream(path, { highWaterMark: 1_048_576 }), async (chunks) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    });
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
  return { bytes, digest: hash.digest("hex") };
};
