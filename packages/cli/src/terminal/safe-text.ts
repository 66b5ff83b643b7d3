import { hideSecrets } from "../hide-secrets.ts";

/**
 * Text of a job or a server, for a person: without what the configuration hides, and without control characters, which could
 * make a terminal do or show anything. Line breaks and tabs stay.
 */
export const safeText = (text: string): string => withoutControls(hideSecrets(text));

export const withoutControls = (text: string): string =>
  text.replaceAll("\r\n", "\n").replaceAll(/(?![\n\t])\p{Cc}/gu, "\u{FFFD}");
