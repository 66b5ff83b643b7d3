/** True when lists and maps lie in each other more than `max` deep. Looks no deeper, so that no depth can harm it. */
export const isDeeper = (value: unknown, max: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (max === 0 || Object.values(value).some((inner) => isDeeper(inner, max - 1)));
