/** Where an address begins within a word, as it is or encoded for a link or a JSON text. */
const beginning = /https?(?::|%(?:25)*3a)|projects(?:\\*\/|%(?:25)*2f)|executions(?:\\*\/|%(?:25)*2f)/i;
/** What stands before a callback's ID, in names and in addresses. */
const callbacks = /(?:\/|%(?:25)*2f)callbacks?(?:\\*\/|%(?:25)*2f)[^\\/]/i;
const scopes = /(?:projects|executions)(?:\\*\/|%(?:25)*2f)/i;

/**
 * Addresses of callbacks, which an author may put into a text, are the store's alone: whoever has one can answer. Words are looked at one by
 * one, since the text is anybody's: no pattern here takes more than one pass over it.
 */
export const blankCallbacks = (text: string): string =>
  text.replaceAll(/[^\s"'<>]+/g, (word) => {
    const scope = word.search(scopes);
    if (scope < 0 || !callbacks.test(word.slice(scope))) return word;
    // Those at the end escape what comes next.
    let end = word.length;
    while (word[end - 1] === "\\") end -= 1;
    return `${word.slice(0, word.search(beginning))}[callback]${word.slice(end)}`;
  });
