type Redact = (text: string) => string;

let redact: Redact = (text) => text;

/** Told by whoever reads the configuration of this run. */
export const setRedaction = (next: Redact): void => {
  redact = next;
};

/** Hides what the configuration of this run took from outside its file. */
export const hideSecrets: Redact = (text) => redact(text);
