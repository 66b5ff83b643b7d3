import { declaredMember, type ElicitationModes, readElicitationModes } from "../read-elicitation-modes.ts";
import { tasksExtension } from "./extension.ts";

/** What the sender of one request declares that it can do. */
export interface CallerCapabilities extends ElicitationModes {
  readonly tasks: boolean;
}

/** Reads a request's `io.modelcontextprotocol/clientCapabilities`. Anything else than an object declares nothing. */
export const readCapabilities = (declared: unknown): CallerCapabilities => ({
  tasks: declaredMember(declared, "extensions", tasksExtension) !== undefined,
  ...readElicitationModes(declared),
});
