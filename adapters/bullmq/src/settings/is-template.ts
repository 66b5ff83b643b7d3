/** Still depends on the input of a call. */
export const isTemplate = (value: unknown): value is string => typeof value === "string" && value.includes("{{");
