/** As the engine fills them in. */
const placeholder = /\{\{\s*input(?:\.[\w$-]+)+\s*\}\}/;

/** Still depends on the input of a call. */
export const isTemplate = (text: string): boolean => placeholder.test(text);
