import { declaredMember, type ElicitationModes, readElicitationModes } from "../read-elicitation-modes.ts";

/** What a client declared for the whole of its session. */
export interface SessionCapabilities extends ElicitationModes {
  /** Its model can be asked. */
  readonly sampling: boolean;
  /** `elicitation/create` may be augmented with a task. */
  readonly taskElicitation: boolean;
  /** `sampling/createMessage` may be augmented with a task. */
  readonly taskSampling: boolean;
  /** Tasks of its own can be cancelled. */
  readonly taskCancel: boolean;
}

/** Reads the `capabilities` of `initialize`. Anything else than an object declares nothing. */
export const readCapabilities = (declared: unknown): SessionCapabilities => ({
  ...readElicitationModes(declared),
  sampling: declaredMember(declared, "sampling") !== undefined,
  taskElicitation: declaredMember(declared, "tasks", "requests", "elicitation", "create") !== undefined,
  taskSampling: declaredMember(declared, "tasks", "requests", "sampling", "createMessage") !== undefined,
  taskCancel: declaredMember(declared, "tasks", "cancel") !== undefined,
});
