import { type Logger, pino } from "pino";
import { withoutControls } from "./safe-text.ts";

/**
 * JSON lines on stderr, or readable ones where stderr is a terminal. `redact` sees each line as it is written. `instance`: which of
 * several servers it is, told in each line.
 */
export const createLogger = (redact: (text: string) => string, instance?: string): Logger => {
  const format = process.stderr.isTTY === true ? formatLine : (line: string) => line;
  return pino(
    {
      base: instance === undefined ? null : { instance },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => process.stderr.write(redact(format(line))) },
  );
};

/** `12:00:00 info  listening  url=http://…` */
const formatLine = (line: string): string => {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${withoutControls([String(time).slice(11, 19), String(level).padEnd(5), msg, ...shown].filter(Boolean).join(" "))}\n`;
};
