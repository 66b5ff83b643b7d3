const longest = 100;

/** A value as a message tells it ("must be a text, got 7"): its JSON, at most 100 characters. Never throws. */
export const showValue = (value: unknown): string => {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, longest);
  } catch {
    // A bigint, a thing that holds itself.
    return Object.prototype.toString.call(value);
  }
};
