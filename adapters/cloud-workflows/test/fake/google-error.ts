/** `google.rpc.Code` by name, with the HTTP status that it has over REST: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const statuses = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const;

export type GoogleCode = keyof typeof statuses;

/** An error as Google's APIs tell it. The words are ours unless a function below says otherwise. */
export class GoogleError extends Error {
  override readonly name = "GoogleError";
  readonly status: number;
  readonly code: GoogleCode;
  readonly details: readonly object[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: GoogleCode,
    message: string,
    details: readonly object[] = [],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = statuses[code];
    this.code = code;
    this.details = details;
    this.headers = headers;
  }
}

/** The shape of a body: https://google.aip.dev/193 */
export const toErrorBody = ({ status, code, message, details }: GoogleError): object => ({
  error: { code: status, message, status: code, ...(details.length === 0 ? {} : { details }) },
});

const errorInfo = (reason: string, domain: string, metadata: Readonly<Record<string, string>>): object => ({
  "@type": "type.googleapis.com/google.rpc.ErrorInfo",
  reason,
  domain,
  metadata,
});

export const invalidArgument = (message: string): GoogleError => new GoogleError("INVALID_ARGUMENT", message);

/** The standard words of Google's servers. */
export const notFound = (message = "Requested entity was not found."): GoogleError =>
  new GoogleError("NOT_FOUND", message);

export const failedPrecondition = (message: string): GoogleError => new GoogleError("FAILED_PRECONDITION", message);

/** IAM names the permission and the resource: https://cloud.google.com/iam/docs/permission-error-messages */
export const permissionDenied = (permission: string, resource: string): GoogleError =>
  new GoogleError(
    "PERMISSION_DENIED",
    `Permission '${permission}' denied on resource '//workflows.googleapis.com/${resource}' (or it may not exist).`,
    [errorInfo("IAM_PERMISSION_DENIED", "iam.googleapis.com", { permission, resource })],
  );

/** The standard words, for a token that is absent, wrong or too old. */
export const unauthenticated = (): GoogleError =>
  new GoogleError(
    "UNAUTHENTICATED",
    "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.",
    [errorInfo("ACCESS_TOKEN_EXPIRED", "googleapis.com", { service: "workflowexecutions.googleapis.com" })],
    { "www-authenticate": 'Bearer realm="https://accounts.google.com/", error="invalid_token"' },
  );

/** As Service Control words it: https://cloud.google.com/docs/quotas/troubleshoot */
export const quotaExceeded = (metric: string, limit: number, consumer: string): GoogleError =>
  new GoogleError(
    "RESOURCE_EXHAUSTED",
    `Quota exceeded for quota metric '${metric}' and limit '${metric} per minute per region' of service 'workflowexecutions.googleapis.com' for consumer 'project_number:${consumer}'.`,
    [
      errorInfo("RATE_LIMIT_EXCEEDED", "googleapis.com", {
        quota_metric: metric,
        quota_limit_value: String(limit),
        service: "workflowexecutions.googleapis.com",
        consumer: `projects/${consumer}`,
      }),
    ],
  );

/** A second payload before the first was read, or too many executions: the status is documented, the words are not. */
export const exhausted = (message: string): GoogleError => new GoogleError("RESOURCE_EXHAUSTED", message);
