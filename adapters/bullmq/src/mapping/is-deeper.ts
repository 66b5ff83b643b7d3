/** True when lists and maps lie in each other more than `most` deep. Looks no deeper, so that no depth can harm it. */
export const isDeeper = (value: unknown, most: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)));
