import { hideSecrets } from "../hide-secrets.ts";

/**
 * What a terminal obeys or does not show: control characters, other line ends, marks that turn text around, and characters
 * without any width. Line breaks and tabs are none of them, nor is what joins and varies the signs of scripts and emoji.
 */
const unsafe =
  /(?![\n\t\u{200C}\u{200D}]|\p{Variation_Selector})[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Text of a job or a server, for a person: without what the configuration hides, and without what could make a terminal do or
 * show anything else. Line breaks and tabs stay.
 */
export const safeText = (text: string): string => withoutControls(hideSecrets(text));

/** The same on one line, so that it cannot look like the lines that follow. */
export const safeLine = (text: string): string =>
  safeText(text)
    .replaceAll(/\s*[\n\t]\s*/g, " ")
    .trim();

export const withoutControls = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unsafe, "\u{FFFD}");

/** The same for JSON, which has escapes for them. */
export const escapeControls = (json: string): string =>
  json.replaceAll(unsafe, (character) =>
    // Two for a character beyond 16 bits.
    character.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
