import { asExecutionRef, BridgeError, type ExecutionRef } from "@taskbridge/core/adapter";

/** An execution's ARN taken apart. */
export interface ExecutionLocation {
  readonly arn: string;
  readonly region: string;
  /** Of the state machine, without version or alias. */
  readonly machineArn: string;
  readonly name: string;
}

const executionArn = /^arn:([\w-]+):states:([\w-]+):(\d{12}):execution:([^\s:]+):([^\s:]+)$/;

/** Undefined for what is not the ARN of an execution of a Standard machine. */
export const parseExecutionArn = (arn: string): ExecutionLocation | undefined => {
  const [, partition, region, account, machine, name] = executionArn.exec(arn) ?? [];
  if (region === undefined || name === undefined) return undefined;
  return { arn, region, name, machineArn: `arn:${partition}:states:${region}:${account}:stateMachine:${machine}` };
};

/** The ARN that an execution of this name has, whichever version or alias it was started by. */
export const executionArnOf = (machineArn: string, name: string): string =>
  `${machineArn.replace(":stateMachine:", ":execution:")}:${name}`;

/** A ref of ours is the ARN, so that an operator can adopt an execution by it. */
export const toRef = (arn: string): ExecutionRef => asExecutionRef(arn);

export const parseRef = (ref: ExecutionRef): ExecutionLocation => {
  const location = parseExecutionArn(ref);
  if (location !== undefined) return location;
  throw new BridgeError("invalid_input", `not an execution's ARN: ${ref.slice(0, 100)}`, { data: { path: "ref" } });
};

const consoles: Readonly<Record<string, string>> = {
  "aws-cn": "console.amazonaws.cn",
  "aws-us-gov": "console.amazonaws-us-gov.com",
};

/** The execution's page in AWS' console. */
export const consoleUrlOf = (arn: string): string => {
  const [, partition = "aws", , region = ""] = arn.split(":");
  const host = consoles[partition] ?? "console.aws.amazon.com";
  return `https://${region}.${host}/states/home?region=${region}#/v2/executions/details/${arn}`;
};
