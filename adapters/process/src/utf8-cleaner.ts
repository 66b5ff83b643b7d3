import { isAscii, isUtf8 } from "node:buffer";

/** How many bytes at the end begin a character that is not complete. */
const openBytes = (bytes: Buffer): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] as number;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const needed = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1;
    return needed > back ? back : 0;
  }
  return 0;
};

/** Makes valid UTF-8 of a stream of bytes: what is not becomes U+FFFD, characters cut by a chunk's end are kept whole. */
export interface Utf8Cleaner {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

export const utf8Cleaner = (): Utf8Cleaner => {
  let open: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      if (open.length === 0 && isAscii(chunk)) return chunk;
      const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
      const whole = bytes.subarray(0, bytes.length - openBytes(bytes));
      open = Buffer.from(bytes.subarray(whole.length));
      return isUtf8(whole) ? whole : Buffer.from(whole.toString("utf8"));
    },
    end() {
      const rest = open.length === 0 ? open : Buffer.from("\ufffd");
      open = Buffer.alloc(0);
      return rest;
    },
  };
};
