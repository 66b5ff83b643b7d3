import { stripVTControlCharacters } from "node:util";

/** So much of a text is shown: in characters. */
const maxLength = 300;

/** Text of a job as one line for a person: without control characters, which do things to terminals and logs. */
export const toLine = (text: string): string => {
  // What is cut off anyway need not be cleaned.
  const clean = stripVTControlCharacters(text.slice(0, 10 * maxLength))
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\p{Cc}/gu, "");
  return clean
    .trim()
    .slice(0, maxLength)
    .replace(/[\ud800-\udbff]$/, "");
};
