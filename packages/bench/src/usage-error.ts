/** Asked for what there is not: told with the usage. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
