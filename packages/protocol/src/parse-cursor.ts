import { invalidInput } from "./invalid-input.ts";

/**
 * The `cursor` of `tasks/list`; undefined, also for null: the first page. Throws `invalid_input` for anything but text;
 * which text is a cursor is the engine's to say.
 */
export const parseCursor = (params: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const cursor = params?.cursor ?? undefined;
  if (cursor === undefined || typeof cursor === "string") return cursor;
  throw invalidInput("cursor", "text is needed");
};
