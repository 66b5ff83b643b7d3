/** An error as Step Functions tells it: HTTP status, type and message. */
export class AwsError extends Error {
  override readonly name = "AwsError";
  readonly type: string;
  readonly status: number;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(type: string, message: string, status = 400, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.type = type;
    this.status = status;
    this.more = more;
  }
}

/** Of the service's own errors, and of the machinery's before it; clients keep what is behind the `#`. */
const serviceSpace = "com.amazonaws.swf.service.v2.model";
const commonSpaces: Readonly<Record<string, string>> = {
  AccessDeniedException: "com.amazon.coral.service",
  ExpiredTokenException: "com.amazon.coral.service",
  InternalFailure: "com.amazon.coral.service",
  InvalidSignatureException: "com.amazon.coral.service",
  MissingAuthenticationTokenException: "com.amazon.coral.service",
  ServiceUnavailableException: "com.amazon.coral.availability",
  ThrottlingException: "com.amazon.coral.availability",
  UnknownOperationException: "com.amazon.coral.service",
  ValidationException: "com.amazon.coral.validate",
};

/** `__type` of an error's body. */
export const toShapeId = (type: string): string => `${commonSpaces[type] ?? serviceSpace}#${type}`;

/**
 * Texts that were recorded from AWS, in LocalStack's snapshots (`tests/aws/services/stepfunctions/v2/**\/*.snapshot.json`): those of
 * ExecutionAlreadyExists, ExecutionDoesNotExist, StateMachineDoesNotExist, StateMachineTypeNotSupported, ResourceNotFound, InvalidArn (but
 * for an ARN of another region), InvalidName, InvalidExecutionInput, InvalidToken (of a page), and of a ValidationException for a number or
 * a length. TaskTimedOut and AccessDeniedException are worded as users have reported them. All others are ours, as the
 * spaces above may be. The adapter goes by types alone, but for signatures that came too late, which no façade plays.
 */
const aboutMatter =
  (type: string, words: string) =>
  (matter: string): AwsError =>
    new AwsError(type, `${words}: '${matter}'`);

export const executionAlreadyExists: (arn: string) => AwsError = aboutMatter(
  "ExecutionAlreadyExists",
  "Execution Already Exists",
);
export const executionDoesNotExist: (arn: string) => AwsError = aboutMatter(
  "ExecutionDoesNotExist",
  "Execution Does Not Exist",
);
export const stateMachineDoesNotExist: (arn: string) => AwsError = aboutMatter(
  "StateMachineDoesNotExist",
  "State Machine Does Not Exist",
);
export const stateMachineDeleting: (arn: string) => AwsError = aboutMatter(
  "StateMachineDeleting",
  "State Machine is Deleting",
);
export const stateMachineTypeNotSupported = (): AwsError =>
  new AwsError("StateMachineTypeNotSupported", "This operation is not supported by this type of state machine");
export const resourceNotFound: (arn: string) => AwsError = aboutMatter("ResourceNotFound", "Resource not found");
export const invalidArn: (matter: string) => AwsError = aboutMatter("InvalidArn", "Invalid Arn");
export const invalidName: (name: string) => AwsError = aboutMatter("InvalidName", "Invalid Name");
export const invalidExecutionInput: (matter: string) => AwsError = aboutMatter(
  "InvalidExecutionInput",
  "Invalid State Machine Execution Input",
);
export const invalidOutput: (matter: string) => AwsError = aboutMatter("InvalidOutput", "Invalid Output");
export const invalidToken = (): AwsError => new AwsError("InvalidToken", "Invalid Token: 'Invalid token'");
export const taskTimedOut = (): AwsError =>
  new AwsError("TaskTimedOut", "Task Timed Out: 'Provided task does not exist anymore'");
export const taskDoesNotExist = (): AwsError =>
  new AwsError("TaskDoesNotExist", "Task Does Not Exist: 'Provided task does not exist'");
export const executionLimitExceeded = (): AwsError =>
  new AwsError("ExecutionLimitExceeded", "The maximum number of running executions has been reached");
export const executionNotRedrivable: (why: string) => AwsError = aboutMatter(
  "ExecutionNotRedrivable",
  "Execution Not Redrivable",
);
export const throttled = (): AwsError => new AwsError("ThrottlingException", "Rate exceeded");
export const accessDenied = (user: string, action: string, resource: string): AwsError => {
  const what = `states:${action} on resource: ${resource}`;
  const why = `because no identity-based policy allows the states:${action} action`;
  return new AwsError("AccessDeniedException", `User: ${user} is not authorized to perform: ${what} ${why}`);
};
export const expiredToken = (): AwsError =>
  new AwsError("ExpiredTokenException", "The security token included in the request is expired");
export const wrongRegion = (): AwsError =>
  new AwsError("InvalidSignatureException", "Credential should be scoped to a valid region. ");
export const notSigned = (): AwsError =>
  new AwsError("MissingAuthenticationTokenException", "Missing Authentication Token");

/** A member outside its published limits. `value` is left out where it is long or secret. */
export const constraintViolated = (member: string, constraint: string, value?: string | number): AwsError => {
  const what = value === undefined ? "Value" : `Value '${value}'`;
  return new AwsError(
    "ValidationException",
    `1 validation error detected: ${what} at '${member}' failed to satisfy constraint: Member must ${constraint}`,
  );
};
