type Redact = (text: string) => string;

let redact: Redact = (text) => text;

/** Told by whoever reads the configuration of this run. */
export const setRedaction = (next: Redact): void => {
  redact = next;
};

/** Hides what the configuration of this run took from outside its file. */
export const hideSecrets: Redact = (text) => redact(text);

/** The same in every text of a JSON value. Member names stay. */
export const hideSecretsIn = (value: unknown): unknown => {
  if (typeof value === "string") return hideSecrets(value);
  if (Array.isArray(value)) return value.map(hideSecretsIn);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hideSecretsIn(member)]));
};
