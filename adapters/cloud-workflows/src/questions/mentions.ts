/** Maps and lists within each other. */
const deepest = 10;

/** Whether this callback's address stands among these values. */
export const mentions = (value: unknown, callbackId: string, depth = 0): boolean => {
  if (typeof value === "string")
    return value.endsWith(`/callbacks/${callbackId}`) || value.endsWith(`/callback/${callbackId}`);
  if (depth >= deepest || typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => mentions(item, callbackId, depth + 1));
};
