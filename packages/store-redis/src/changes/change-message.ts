/** Whose message it is, and the tasks. No tasks: any may have changed. */
export type ChangeMessage = readonly [origin: string, ...taskIds: readonly string[]];

const anything: ChangeMessage = [""];

/** What is not ours, as anybody may publish and later versions may, says that any task may have changed. */
export const parseChangeMessage = (text: string): ChangeMessage => {
  try {
    const message: unknown = JSON.parse(text);
    return isChangeMessage(message) ? message : anything;
  } catch {
    return anything;
  }
};

const isChangeMessage = (message: unknown): message is ChangeMessage =>
  Array.isArray(message) && message.length > 0 && message.every((part) => typeof part === "string");
