/** The first place of a text that a call's input stands in for, with the path behind `input` (`.where.region`) as its group. */
export const placeholder: RegExp = /\{\{\s*input((?:\.[\w$-]+)+)\s*\}\}/;

/** Whether a text of a target still depends on the input of a call (`{{input.x}}`), so that it cannot be checked before one. */
export const isTemplate = (text: string): boolean => placeholder.test(text);
