import type { GivenResult } from "./ledger.ts";

/** The last text of a tool's result, of any SDK: what comes before it says which task it is of. */
export const toGivenResult = (result: object): GivenResult => {
  const { content, isError } = result as { readonly content?: unknown; readonly isError?: unknown };
  return { text: textsOf(content).at(-1) ?? "", isError: isError === true };
};

/** The texts of a result's content. */
export const textsOf = (content: unknown): readonly string[] =>
  (Array.isArray(content) ? content : []).flatMap((block: { readonly text?: unknown }) =>
    typeof block.text === "string" ? [block.text] : [],
  );
