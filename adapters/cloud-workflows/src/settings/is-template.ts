/** Still depends on the input of a call. */
export const isTemplate = (text: string): boolean => text.includes("{{");
