import { closeSync, openSync, readSync, writeSync } from "node:fs";

/** How long (milliseconds) a file that could not be written to is left alone. */
const pauseMs = 1000;

/** A file that a job's output goes to. Never throws: what cannot be kept is counted, and the job goes on. */
export interface LimitedFile {
  write(bytes: Uint8Array): void;
  readonly bytes: number;
  /** Bytes that are not in the file, and why. */
  readonly lost: number;
  readonly lossReason: string | undefined;
  /** Hands the content on, piece by piece. */
  replay(take: (bytes: Buffer) => void): void;
  close(): void;
}

/** Synchronous on purpose: the supervisor has nothing else to do, and a pipe that is not read is the job's back pressure. */
export const limitedFile = (path: string, maxBytes: number): LimitedFile => {
  let bytes = 0;
  let lost = 0;
  let lossReason: string | undefined;
  let retryAt = 0;
  let file: number | undefined;

  const writeSome = (piece: Uint8Array): number => {
    try {
      file ??= openSync(path, "w+", 0o600);
      return writeSync(file, piece, 0, piece.length, bytes);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? "EIO";
      if (code === "EAGAIN" || code === "EINTR") return 0;
      lossReason = `${code} in ${path}`;
      retryAt = performance.now() + pauseMs;
      return -1;
    }
  };

  writeSome(new Uint8Array());
  return {
    get bytes() {
      return bytes;
    },
    get lost() {
      return lost;
    },
    get lossReason() {
      return lossReason;
    },
    write(given) {
      let rest = given.subarray(0, Math.max(0, maxBytes - bytes));
      if (rest.length < given.length) lossReason ??= `more than ${maxBytes} bytes`;
      lost += given.length - rest.length;
      while (rest.length > 0) {
        const written = performance.now() < retryAt ? -1 : writeSome(rest);
        if (written < 0) {
          lost += rest.length;
          return;
        }
        bytes += written;
        rest = rest.subarray(written);
      }
    },
    replay(take) {
      const piece = Buffer.alloc(64 * 1024);
      for (let at = 0, read = 0; at < bytes; at += read) {
        read = readSync(file as number, piece, 0, piece.length, at);
        if (read === 0) return;
        take(piece.subarray(0, read));
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
    },
  };
};
