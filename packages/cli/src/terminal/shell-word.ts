/** Text as one word of a shell command that a person can paste, in printable characters only. */
export const shellWord = (text: string): string => {
  // A shell may replace `=` and `~` at the beginning of a word.
  if (/^(?![=~])[\w@%+=:,./~-]+$/.test(text)) return text;
  if (/^[ -~]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`;
  return `$'${Array.from(Buffer.from(text), toEscaped).join("")}'`;
};

const toEscaped = (byte: number): string => {
  const character = String.fromCharCode(byte);
  if (/[\\']/.test(character)) return `\\${character}`;
  return /[ -~]/.test(character) ? character : `\\x${byte.toString(16).padStart(2, "0")}`;
};
