import { hideSecrets } from "../hide-secrets.ts";

/**
 * Text of a job or a server, for a person: without what the configuration hides, and without control characters, which could
 * make a terminal do or show anything, those that turn the direction of text included. Line breaks and tabs stay.
 */
export const safeText = (text: string): string => withoutControls(hideSecrets(text));

export const withoutControls = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(
      /(?![\n\t])[\p{Cc}\p{Zl}\p{Zp}\u{200B}\u{200E}\u{200F}\u{202A}-\u{202E}\u{2066}-\u{2069}]/gu,
      "\u{FFFD}",
    );
