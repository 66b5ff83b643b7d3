/** An answer of Google's APIs that is not OK, in the form of google.rpc.Status. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly status: string;
  constructor(code: number, status: string, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export const invalid = (message: string): ApiError => new ApiError(400, "INVALID_ARGUMENT", message);
export const notFound = (message: string): ApiError => new ApiError(404, "NOT_FOUND", message);
