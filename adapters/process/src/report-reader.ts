import { type JsonScanner, jsonScanner } from "./json-scanner.ts";

const marker = Buffer.from("::taskbridge ");
const newline = 0x0a;
const resultHead = /^::taskbridge\s*\{\s*"result"\s*:\s*/;

/** Report lines longer than this (bytes) are only taken when they are results, which are then streamed. */
export const maxReport: number = 1024 * 1024;

/** Where the parts of a job's stdout go. */
export interface ReportSink {
  log(bytes: Buffer): void;
  /** The JSON of a report line. False: it is none, and the line is log. */
  report(json: string): boolean;
  /** A result too long to be held: its bytes follow. `head` is the line up to them. */
  beginResult(head: string): void;
  resultBytes(bytes: Buffer): void;
  /** `whole`: it was valid JSON to its end. */
  endResult(whole: boolean): void;
}

export interface ReportReader {
  push(chunk: Buffer): void;
  /** The stream has ended; what is there is the last line. */
  end(): void;
}

/** Tells report lines from log in a stream of any size with bounded memory. */
export const reportReader = (sink: ReportSink): ReportReader => {
  let mode: "text" | "line" | "result" = "text";
  let atLineStart = true;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let scanner: JsonScanner = jsonScanner();
  let tail: Buffer = Buffer.alloc(0);

  const hold = (bytes: Buffer): void => {
    // A copy: the chunk's memory is the stream's, and a slice of it would keep all of it alive.
    if (bytes.length > 0) held.push(Buffer.from(bytes));
    heldBytes += bytes.length;
  };
  const release = (): Buffer => {
    const line = Buffer.concat(held);
    held = [];
    heldBytes = 0;
    return line;
  };
  const log = (bytes: Buffer): void => {
    if (bytes.length === 0) return;
    sink.log(bytes);
    atLineStart = bytes[bytes.length - 1] === newline;
  };

  /** Start of the first line that is, or may yet become, a report; the chunk's length when there is none. */
  const findReport = (bytes: Buffer): number => {
    if (atLineStart && bytes.subarray(0, marker.length).equals(marker.subarray(0, bytes.length))) return 0;
    for (let at = bytes.indexOf(marker); at >= 0; at = bytes.indexOf(marker, at + 1)) {
      if (at > 0 && bytes[at - 1] === newline) return at;
    }
    const lastLine = bytes.lastIndexOf(newline) + 1;
    const rest = bytes.length - lastLine;
    const isPrefix = lastLine > 0 && rest < marker.length && bytes.subarray(lastLine).equals(marker.subarray(0, rest));
    return isPrefix ? lastLine : bytes.length;
  };

  const endLine = (): void => {
    const line = release();
    mode = "text";
    const isReport = line.length > marker.length && line.subarray(0, marker.length).equals(marker);
    if (!isReport || !sink.report(line.toString("utf8", marker.length))) log(line);
    else atLineStart = true;
  };

  const beginLong = (): void => {
    const line = release();
    const head = resultHead.exec(line.toString("latin1", 0, 1024))?.[0];
    mode = "text";
    if (head === undefined) {
      log(line);
      return;
    }
    mode = "result";
    scanner = jsonScanner();
    tail = Buffer.alloc(0);
    sink.beginResult(head);
    pushResult(line.subarray(head.length));
  };

  const endResult = (whole: boolean, lineEnded: boolean): void => {
    if (!whole) sink.resultBytes(tail);
    mode = "text";
    atLineStart = lineEnded;
    sink.endResult(whole);
  };

  const isWhole = (): boolean => scanner.done && /^\s*\}\s*$/.test(tail.toString("latin1"));

  const pushResult = (bytes: Buffer): Buffer => {
    const end = bytes.indexOf(newline);
    const part = end < 0 ? bytes : bytes.subarray(0, end);
    const taken = scanner.done ? 0 : scanner.push(part);
    if (taken < 0) {
      sink.resultBytes(part);
      endResult(false, false);
      return bytes.subarray(part.length);
    }
    sink.resultBytes(part.subarray(0, taken));
    if (tail.length < 64) tail = Buffer.concat([tail, part.subarray(taken)]);
    if (end >= 0) endResult(isWhole(), true);
    return bytes.subarray(end < 0 ? part.length : end + 1);
  };

  const pushLine = (bytes: Buffer): Buffer => {
    const end = bytes.indexOf(newline);
    const wanted = heldBytes < marker.length ? marker.length - heldBytes : bytes.length;
    const part = bytes.subarray(0, end < 0 ? wanted : Math.min(wanted, end + 1));
    hold(part);
    if (end >= 0 && part.length === end + 1) endLine();
    else if (heldBytes === marker.length && !Buffer.concat(held).equals(marker)) {
      mode = "text";
      log(release());
    } else if (heldBytes > maxReport) beginLong();
    return bytes.subarray(part.length);
  };

  const pushText = (bytes: Buffer): Buffer => {
    const start = findReport(bytes);
    log(bytes.subarray(0, start));
    if (start < bytes.length) mode = "line";
    return bytes.subarray(start);
  };

  return {
    push(chunk) {
      let rest = chunk;
      while (rest.length > 0)
        rest = mode === "text" ? pushText(rest) : mode === "line" ? pushLine(rest) : pushResult(rest);
    },
    end() {
      if (mode === "line") endLine();
      if (mode === "result") endResult(isWhole(), false);
    },
  };
};
