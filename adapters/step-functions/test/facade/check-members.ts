import { AwsError, constraintViolated, invalidExecutionInput, invalidName } from "./aws-error.ts";

export const payloadBytes = 262_144;

/** A member that has to be there, and within its length. */
export const requireText = (member: string, value: string | undefined, maxLength = 256): string => {
  if (typeof value !== "string") throw constraintViolated(member, "not be null");
  if (value.length < 1) throw constraintViolated(member, "have length greater than or equal to 1");
  if (value.length > maxLength) throw constraintViolated(member, `have length less than or equal to ${maxLength}`);
  return value;
};

export const checkLength = (member: string, value: string | undefined, maxLength: number): void => {
  if ((value ?? "").length > maxLength)
    throw constraintViolated(member, `have length less than or equal to ${maxLength}`);
};

/** Whitespace, brackets, wildcards, special and control characters have no place in a name. */
const forbidden = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\ufffe\uffff]/u;

export const checkName = (name: string): void => {
  requireText("name", name, 80);
  if (forbidden.test(name)) throw invalidName(name);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** JSON of at most 256 KiB in UTF-8. */
export const checkPayload = (
  member: string,
  text: string,
  unreadable: (matter: string) => AwsError = invalidExecutionInput,
): void => {
  if (Buffer.byteLength(text) > payloadBytes)
    throw constraintViolated(member, `have length less than or equal to ${payloadBytes}`);
  if (!isJson(text)) throw unreadable(text === "" ? "Invalid execution input." : "Unrecognized token");
};

/** 0 stands for the default of 100, as documented. */
export const checkMaxResults = (value: number | undefined): number => {
  if (value !== undefined && value > 1_000)
    throw constraintViolated("maxResults", "have value less than or equal to 1000", value);
  if (value !== undefined && value < 0)
    throw constraintViolated("maxResults", "have value greater than or equal to 0", value);
  return value || 100;
};

export const missing = (member: string): AwsError =>
  new AwsError("ValidationException", `Missing required parameter: ${member}`, 400, {
    reason: "MISSING_REQUIRED_PARAMETER",
  });
