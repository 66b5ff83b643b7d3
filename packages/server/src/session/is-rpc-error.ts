/** Whether it is an answer of the other side, whichever SDK has made an error of it. */
export const isRpcError = (error: unknown): error is { readonly code: number; readonly message: string } =>
  typeof error === "object" && error !== null && "code" in error && Number.isInteger(error.code);
