import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/adapter";
import { cutText } from "../mapping/cut-text.ts";

/** What was called, and what it is when nobody knows whether it arrived. */
export interface CallDetails {
  /** AWS' name for it, as in a policy: `states:StartExecution`. */
  readonly action: string;
  readonly ifSent: "unavailable" | "outcome_unknown";
}

type CodeAndMessage = readonly [code: BridgeErrorCode, message: string];

const throttled: CodeAndMessage = ["throttled", "AWS limits the rate of"];
const expired: CodeAndMessage = ["unavailable", "the server's AWS credentials have expired for"];
const wrongClock: CodeAndMessage = [
  "unavailable",
  "the server's clock differs from AWS', which is allowed for from now on, for",
];
const unknownCredentials: CodeAndMessage = [
  "denied",
  "AWS does not take the server's credentials (or its region is wrong) for",
];
const noCredentials: CodeAndMessage = ["unavailable", "the server has no AWS credentials at present for"];
const denied: CodeAndMessage = ["denied", "the server's AWS credentials do not allow"];
const key: CodeAndMessage = ["denied", "the KMS key of the state machine cannot be used for"];
const gone: CodeAndMessage = ["not_found", "no such state machine in this account and region, or it is being deleted:"];
const wrongType: CodeAndMessage = ["misconfigured", "a state machine of this type does not know"];
const closed: CodeAndMessage = ["conflict", "the task is closed or its token is not valid:"];
const badInput: CodeAndMessage = ["invalid_input", "AWS refuses what was sent with"];

/** What AWS refuses, by the error's name. Nothing was done then. */
const refusals: Readonly<Record<string, CodeAndMessage>> = {
  AccessDeniedException: denied,
  AccessDenied: denied,
  UnauthorizedOperation: denied,
  NotAuthorized: denied,
  OptInRequired: denied,
  KmsAccessDeniedException: key,
  KmsInvalidStateException: key,
  ExpiredTokenException: expired,
  ExpiredToken: expired,
  RequestExpired: wrongClock,
  RequestInTheFuture: wrongClock,
  RequestTimeTooSkewed: wrongClock,
  UnrecognizedClientException: unknownCredentials,
  InvalidClientTokenId: unknownCredentials,
  InvalidSignatureException: unknownCredentials,
  SignatureDoesNotMatch: unknownCredentials,
  IncompleteSignature: unknownCredentials,
  MissingAuthenticationToken: unknownCredentials,
  MissingAuthenticationTokenException: unknownCredentials,
  CredentialsProviderError: noCredentials,
  TokenProviderError: noCredentials,
  ThrottlingException: throttled,
  Throttling: throttled,
  TooManyRequestsException: throttled,
  RequestLimitExceeded: throttled,
  RequestThrottled: throttled,
  KmsThrottlingException: throttled,
  ExecutionLimitExceeded: ["limit_exceeded", "too many executions are open in this account for"],
  StateMachineDoesNotExist: gone,
  StateMachineDeleting: gone,
  StateMachineTypeNotSupported: wrongType,
  ExecutionDoesNotExist: ["not_found", "no such execution is seen:"],
  ExecutionAlreadyExists: ["conflict", "another execution has this name:"],
  ResourceNotFound: ["not_found", "no such thing in this account and region:"],
  QueueDoesNotExist: ["not_found", "no such queue (`queueUrl`):"],
  "AWS.SimpleQueueService.NonExistentQueue": ["not_found", "no such queue (`queueUrl`):"],
  InvalidArn: ["misconfigured", "AWS takes no such ARN for"],
  InvalidName: badInput,
  InvalidExecutionInput: badInput,
  InvalidOutput: badInput,
  ValidationException: badInput,
  InvalidToken: closed,
  TaskTimedOut: closed,
  TaskDoesNotExist: closed,
};

/** How long a refusal for its rate is waited out when AWS does not say (milliseconds): a bucket of 5 a second has some again. */
const throttlePauseMs = 1_000;

interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly message?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly statusCode?: number; readonly headers?: Readonly<Record<string, string>> };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** By code, or, where no connection was made in time, by the words of AWS' client (`set-connection-timeout.js` of `@smithy/node-http-handler`). */
const isUnreachable = ({ code, name, message }: Thrown): boolean =>
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(textOf(code)) ||
  (name === "TimeoutError" && /(did not|without) establish(ing)? a connection/.test(textOf(message)));

/** As far as `retry-after` says seconds; a date it may also be, and AWS sends neither. */
const retryAfterMs = ({ $response }: Thrown): number | undefined => {
  const seconds = Number($response?.headers?.["retry-after"]);
  return seconds > 0 ? Math.min(seconds * 1_000, 300_000) : undefined;
};

/** Signatures hold five minutes. AWS' client sets its clock by the answer that says so, and its next call is signed anew. */
const isOfClock = ({ name, message }: Thrown): boolean =>
  /^(InvalidSignatureException|SignatureDoesNotMatch)$/.test(textOf(name)) &&
  /signature (has )?expired|not yet current/i.test(textOf(message));

const refusalOf = (thrown: Thrown, status: number | undefined): CodeAndMessage | undefined => {
  // Whatever it is that stands between and limits rates, and whatever it sends with that.
  if (status === 429) return throttled;
  if (isOfClock(thrown)) return wrongClock;
  const name = textOf(thrown.name);
  return Object.hasOwn(refusals, name) ? refusals[name] : undefined;
};

/** What nobody refused by a name that is known here. */
const toUnknown = (thrown: Thrown, status: number | undefined, { action, ifSent }: CallDetails): BridgeError => {
  if (/region is missing/i.test(textOf(thrown.message)))
    return new BridgeError("misconfigured", "no AWS region is set: give `region`, or AWS_REGION", {
      notSent: true,
      data: { path: "region" },
      cause: thrown,
    });
  if (isUnreachable(thrown)) {
    const why = textOf(thrown.code) === "" ? "no connection in time" : textOf(thrown.code);
    const message = `AWS cannot be reached for ${action} (\`region\`, \`endpoint\`): ${why}`;
    return new BridgeError("unavailable", message, { notSent: true, cause: thrown });
  }
  // 408: whoever gave up waiting may have sent it on.
  if (status !== undefined && status >= 400 && status < 500 && status !== 408)
    return new BridgeError("bad_response", `AWS refuses ${action}: ${textOf(thrown.name)}`, {
      notSent: true,
      cause: thrown,
    });
  const pauseMs = retryAfterMs(thrown);
  const message = thrown.name === "AbortError" ? "no answer in time" : `failed (${status ?? textOf(thrown.name)})`;
  return new BridgeError(ifSent, `${action}: ${message}`, {
    ...(pauseMs === undefined ? {} : { retryAfterMs: pauseMs }),
    cause: thrown,
  });
};

/**
 * An error of the AWS client. Messages name the action, since that is what a policy lacks; AWS' own text, which names users and
 * accounts, stays in the cause.
 */
export const toError = (error: unknown, location: CallDetails): BridgeError => {
  if (isBridgeError(error)) return error;
  const thrown = (error ?? {}) as Thrown;
  const status = thrown.$metadata?.httpStatusCode ?? thrown.$response?.statusCode;
  const refusal = refusalOf(thrown, status);
  if (refusal === undefined) return toUnknown(thrown, status, location);
  const [code, message] = refusal;
  const pause = code === "throttled" ? { retryAfterMs: retryAfterMs(thrown) ?? throttlePauseMs } : {};
  const why = code === "invalid_input" ? `: ${cutText(textOf(thrown.message), 200)}` : "";
  const data = { action: location.action, awsError: textOf(thrown.name) };
  return new BridgeError(code, `${message} ${location.action}${why}`, { notSent: true, ...pause, data, cause: error });
};
