/** Text as one word of a shell command that a person can paste. What a terminal would obey is written as an escape. */
export const shellWord = (text: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!unprintable.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  const escaped = text.replaceAll(/[\\']/g, "\\$&").replaceAll(new RegExp(unprintable, "gu"), toEscape);
  return `$'${escaped}'`;
};

const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

const toEscape = (character: string): string => `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
