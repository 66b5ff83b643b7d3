import { invalidInput } from "./invalid-input.ts";

/** The `taskId` of a request. Throws `invalid_input` for anything but text; which text is known is the engine's to say. */
export const parseTaskId = (params: Readonly<Record<string, unknown>> | undefined): string => {
  const taskId = params?.taskId;
  if (typeof taskId === "string") return taskId;
  throw invalidInput("taskId", "text is needed");
};
