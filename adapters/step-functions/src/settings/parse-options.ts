import { isObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";
import type { SFNClient } from "../aws/sfn-client.ts";

export interface StepFunctionsOptions {
  /** `standard`: idempotent, durable, with questions and cancel. `express`: at most five minutes, awaited by this process. Default `standard`. */
  readonly type?: "standard" | "express";
  /** Default: where AWS' client finds one (`AWS_REGION`, the profile). Targets of another region are refused. */
  readonly region?: string;
  /** The address of Step Functions, for a local engine or a VPC endpoint. Default: AWS' for the region. */
  readonly endpoint?: string;
  /** A profile of AWS' configuration files. Default: AWS' own order of looking for credentials. */
  readonly profile?: string;
  /** In place of these three: a client of yours (programs only), best with `maxAttempts: 1`. It stays yours to close. */
  readonly client?: SFNClient;
  /** The SQS queue that the EventBridge rule sends to, for servers on one store. Default: executions are only looked at. */
  readonly queueUrl?: string;
  /** The address of SQS, for a local engine or a VPC endpoint. Default: AWS' for the region. */
  readonly queueEndpoint?: string;
  /** Part of the account's published rates (Describe, List, History) that this server may use: above 0, at most 1. Default 0.8. */
  readonly quotaShare?: number;
}

/** All of them: what was not given is undefined, unless it has a default. */
export type ParsedOptions = Required<Pick<StepFunctionsOptions, "type" | "quotaShare">> & {
  readonly [Name in Exclude<keyof StepFunctionsOptions, "type" | "quotaShare">]: StepFunctionsOptions[Name] | undefined;
};

type Given = Readonly<Record<string, unknown>>;

const textAt = (options: Given, name: string): string | undefined => {
  const value = options[name];
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw misconfigured(name, `must be a text, got ${showValue(value)}`);
};

const urlAt = (options: Given, name: string): string | undefined => {
  const url = textAt(options, name);
  if (url === undefined || (/^https?:\/\//.test(url) && URL.canParse(url))) return url;
  throw misconfigured(name, `must be http://… or https://…, got ${showValue(url)}`);
};

const names = ["type", "region", "endpoint", "profile", "client", "queueUrl", "queueEndpoint", "quotaShare"];

/** Checks what a program or a configuration file gave. Throws `misconfigured` with `data.path`. */
export const parseOptions = (options: Given): ParsedOptions => {
  refuseOtherMembers(options, names, "", "unknown option");
  const { type = "standard", client, quotaShare = 0.8 } = options;
  if (type !== "standard" && type !== "express")
    throw misconfigured("type", `must be standard or express, got ${showValue(type)}`);
  if (typeof quotaShare !== "number" || !(quotaShare > 0 && quotaShare <= 1))
    throw misconfigured("quotaShare", `must be above 0 and at most 1, got ${showValue(quotaShare)}`);
  if (client !== undefined && !(isObject(client) && typeof client.send === "function"))
    throw misconfigured("client", "must be a SFNClient");
  const parsed: ParsedOptions = {
    type,
    region: textAt(options, "region"),
    endpoint: urlAt(options, "endpoint"),
    profile: textAt(options, "profile"),
    client: client as SFNClient | undefined,
    queueUrl: urlAt(options, "queueUrl"),
    queueEndpoint: urlAt(options, "queueEndpoint"),
    quotaShare,
  };
  if (parsed.client !== undefined && (parsed.endpoint ?? parsed.profile) !== undefined)
    throw misconfigured("client", "stands in place of endpoint and profile");
  if (type === "express" && parsed.queueUrl !== undefined)
    throw misconfigured("queueUrl", "AWS sends no events of Express executions: this is for type: standard");
  return parsed;
};
