const quote = 0x22;
const backslash = 0x5c;
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const maxScalar = 4096;

type Expecting =
  | "value"
  | "value or ]"
  | "name or }"
  | "name"
  | ":"
  | ", or end"
  | "text"
  | "escape"
  | "scalar"
  | "done";

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Checks JSON text byte by byte, so that a value of any size is known to be whole and valid without being held in memory. */
export interface JsonScanner {
  /** How many bytes belong to the value. Fewer than given: the value has ended there. -1: this is no JSON. */
  push(bytes: Uint8Array): number;
  /** True once the value is complete. */
  readonly done: boolean;
}

export const jsonScanner = (): JsonScanner => {
  const closers: number[] = [];
  let expecting: Expecting = "value";
  let isName = false;
  let token = "";

  const endValue = (): void => {
    expecting = closers.length === 0 ? "done" : ", or end";
  };
  const open = (closer: number, next: Expecting): void => {
    closers.push(closer);
    expecting = next;
  };
  const beginText = (name: boolean): void => {
    isName = name;
    expecting = "text";
  };
  const beginValue = (byte: number): void => {
    if (byte === quote) beginText(false);
    else if (byte === 0x7b) open(0x7d, "name or }");
    else if (byte === 0x5b) open(0x5d, "value or ]");
    else {
      token = String.fromCharCode(byte);
      expecting = "scalar";
    }
  };
  /** One byte outside of texts and scalars. False: it does not belong there. */
  const step = (byte: number): boolean => {
    if (isBlank(byte)) return true;
    const closes = byte === closers.at(-1);
    if (closes && (expecting === "value or ]" || expecting === "name or }" || expecting === ", or end")) {
      closers.pop();
      endValue();
    } else if (expecting === "value" || expecting === "value or ]") beginValue(byte);
    else if (byte === quote && (expecting === "name" || expecting === "name or }")) beginText(true);
    else if (byte === 0x3a && expecting === ":") expecting = "value";
    else if (byte === 0x2c && expecting === ", or end") expecting = closers.at(-1) === 0x7d ? "name" : "value";
    else return false;
    return true;
  };
  /** Index after the last byte of the text that belongs to this chunk, or -1. */
  const scanText = (bytes: Uint8Array, from: number): number => {
    for (let index = from; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (byte === quote) {
        if (isName) expecting = ":";
        else endValue();
        return index + 1;
      }
      if (byte === backslash) {
        token = "\\";
        expecting = "escape";
        return index + 1;
      }
      if (byte < 0x20) return -1;
    }
    return bytes.length;
  };
  /** One byte after a backslash. False: no escape of JSON's. */
  const stepEscape = (byte: number): boolean => {
    token += String.fromCharCode(byte);
    if (!/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{0,4})$/.test(token)) return false;
    if (token[1] !== "u" || token.length === 6) expecting = "text";
    return true;
  };
  /** One byte after the first of a number or word. False: the scalar is not one of JSON's. */
  const stepScalar = (byte: number): "part" | "after" | "wrong" => {
    const isPart =
      (byte >= 0x30 && byte <= 0x39) ||
      ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ||
      byte === 0x2b ||
      byte === 0x2d ||
      byte === 0x2e;
    if (isPart) {
      token += String.fromCharCode(byte);
      return token.length > maxScalar ? "wrong" : "part";
    }
    if (!scalar.test(token)) return "wrong";
    endValue();
    return "after";
  };

  return {
    get done() {
      return expecting === "done";
    },
    push(bytes) {
      let index = 0;
      while (index < bytes.length && expecting !== "done") {
        if (expecting === "text") {
          index = scanText(bytes, index);
          if (index < 0) return -1;
          continue;
        }
        const byte = bytes[index] as number;
        if (expecting === "scalar") {
          const found = stepScalar(byte);
          if (found === "wrong") return -1;
          if (found === "part") index++;
          continue;
        }
        if (!(expecting === "escape" ? stepEscape(byte) : step(byte))) return -1;
        index++;
      }
      return index;
    },
  };
};
