import { isObject } from "@taskbridge/core";

/** How a client can ask a person. */
export interface ElicitationModes {
  /** By a form. */
  readonly form: boolean;
  /** By a page to visit. */
  readonly url: boolean;
}

/** Reads the `elicitation` of a client's capabilities. Anything else than an object declares nothing. */
export const readElicitationModes = (declared: unknown): ElicitationModes => {
  const elicitation = declaredMember(declared, "elicitation");
  const url = declaredMember(elicitation, "url") !== undefined;
  const form = declaredMember(elicitation, "form") !== undefined;
  // An empty declaration is the form mode: https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
  return { form: form || (elicitation !== undefined && !url), url };
};

/** What is declared under a path of names. Capabilities are objects: anything else there declares nothing. */
export const declaredMember = (declared: unknown, ...path: readonly string[]): object | undefined => {
  let found: unknown = declared;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return isObject(found) ? found : undefined;
};
