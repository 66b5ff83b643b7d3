/** Up to a quarter longer, never shorter, so that clients that were thrown out together do not come back together. */
export const withJitter = (ms: number): number => ms * (1 + Math.random() / 4);
