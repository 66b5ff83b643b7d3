/** Index after the string that begins at `start`. */
const endOfString = (json: string, start: number): number => {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
};

/**
 * A member's own text in the valid JSON text of an object: of several with that name the last, as for `JSON.parse`.
 * Unlike writing the parsed value again, this has no depth at which it fails, and keeps numbers as they are.
 */
export const memberText = (json: string, name: string): string | undefined => {
  let found: string | undefined;
  let current: string | undefined;
  let depth = 0;
  let valueStart = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '"') {
      const end = endOfString(json, at);
      if (depth === 1) current ??= JSON.parse(json.slice(at, end)) as string;
      at = end - 1;
    } else if (depth === 1 && character === ":") valueStart = at + 1;
    else if (depth === 1 && (character === "," || character === "}")) {
      if (current === name) found = json.slice(valueStart, at).trim();
      current = undefined;
    }
    if (character === "{" || character === "[") depth++;
    if (character === "}" || character === "]") depth--;
  }
  return found;
};
