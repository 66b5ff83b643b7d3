import { tasksExtension } from "./extension.ts";

/** What the sender of one request declares that it can do. */
export interface CallerCapabilities {
  readonly tasks: boolean;
  /** Elicitation by a form. */
  readonly form: boolean;
  /** Elicitation by a page to visit. */
  readonly url: boolean;
}

/** Reads a request's `io.modelcontextprotocol/clientCapabilities`. Anything else than an object declares nothing. */
export const readCapabilities = (declared: unknown): CallerCapabilities => {
  const elicitation = member(declared, "elicitation");
  const url = member(elicitation, "url") !== undefined;
  const form = member(elicitation, "form") !== undefined;
  return {
    tasks: member(member(declared, "extensions"), tasksExtension) !== undefined,
    // An empty declaration is the form mode: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
    form: form || (elicitation !== undefined && !url),
    url,
  };
};

const member = (value: unknown, name: string): object | undefined => {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  const found = (value as Record<string, unknown>)[name];
  return typeof found === "object" && found !== null ? found : undefined;
};
