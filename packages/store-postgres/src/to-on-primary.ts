/**
 * A condition of every read, which a standby fails with an error rather than with no rows. As a subquery it is looked at once,
 * before anything else, and also where there is nothing to read.
 */
export const toOnPrimary = (schema: string): string => `(SELECT ${schema}.on_primary())`;
