const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

const sequenceLength = (lead: number): number => (lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);

/** Where the character starts that the byte at `index` belongs to. */
export const characterStart = (bytes: Uint8Array, index: number): number => {
  let start = index;
  while (start > 0 && index - start < 3 && isContinuation(bytes[start])) start -= 1;
  return start;
};

/** The beginning of `bytes` without a character that is cut off at the end. */
export const wholeCharacters = (bytes: Uint8Array): Uint8Array => {
  if (bytes.length === 0) return bytes;
  const last = characterStart(bytes, bytes.length - 1);
  const complete = last + sequenceLength(bytes[last] ?? 0) <= bytes.length;
  return complete ? bytes : bytes.subarray(0, last);
};

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes);
