import { isAbsolute, join } from "node:path";
import { isObject, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";
import type { ExecutionsClient } from "../google/executions-client.ts";
import { checkKeyFile } from "./check-key-file.ts";
import { type Prompts, parsePrompts } from "./parse-prompts.ts";

export interface CloudWorkflowsOptions {
  /** The project's ID. */
  readonly project: string;
  /** Of the workflows: `europe-west1`. Another location is another adapter. */
  readonly location: string;
  /**
   * The address of Workflows and its executions, without a path. `http://` is for engines on this host only, which get no credentials.
   * Default: Google's.
   */
  readonly endpoint?: string;
  /** The path of a key's JSON file, which must be there. Default: application-default credentials. */
  readonly keyFile?: string;
  /** A service account's key. Default: application-default credentials. */
  readonly credentials?: { readonly client_email: string; readonly private_key: string };
  /** In place of these two: a client of yours (programs only). It stays yours to close. */
  readonly client?: ExecutionsClient;
  /** What steps that wait for a callback ask: by workflow, then by step. Default: the step's name, and any object. */
  readonly questions?: Prompts;
  /** Part of the published rates of the project and location that this server may use: 0.01 to 1. Default 0.8. */
  readonly quotaShare?: number;
}

export interface ParsedOptions {
  readonly project: string;
  readonly location: string;
  readonly endpoint: URL | undefined;
  readonly keyFile: string | undefined;
  readonly credentials: CloudWorkflowsOptions["credentials"];
  readonly client: ExecutionsClient | undefined;
  readonly questions: Prompts;
  readonly quotaShare: number;
}

type Given = Readonly<Record<string, unknown>>;

/** With less, hardly anything would be looked at. */
const minShare = 0.01;

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

const textAt = (options: Given, name: string, pattern: RegExp, what: string): string => {
  const value = options[name];
  if (value === undefined) throw misconfigured(name, `is missing: ${what}`);
  if (typeof value === "string" && pattern.test(value)) return value;
  throw misconfigured(name, `must be ${what}, got ${showValue(value)}`);
};

const endpointOf = ({ endpoint }: Given): URL | undefined => {
  if (endpoint === undefined) return undefined;
  if (typeof endpoint !== "string" || !/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw misconfigured("endpoint", `must be https://…, or http://… of this host, got ${showValue(endpoint)}`);
  const url = new URL(endpoint);
  // What was got is a secret.
  if (`${url.username}${url.password}` !== "") throw misconfigured("endpoint", "must be an address without a password");
  if (url.pathname !== "/" || /[?#]/.test(endpoint))
    throw misconfigured("endpoint", `must be an address without a path, got ${showValue(endpoint)}`);
  if (url.protocol === "http:" && !loopback.test(url.hostname))
    throw misconfigured("endpoint", `credentials do not travel over http://: ${url.hostname} is not this host`);
  return url;
};

const credentialsOf = ({ credentials }: Given): CloudWorkflowsOptions["credentials"] => {
  if (credentials === undefined) return undefined;
  if (isObject(credentials)) {
    const { client_email, private_key } = credentials;
    if (typeof client_email === "string" && typeof private_key === "string") return { client_email, private_key };
  }
  // What was got is a secret.
  throw misconfigured("credentials", "must be { client_email, private_key }");
};

const names = ["project", "location", "endpoint", "keyFile", "credentials", "client", "questions", "quotaShare"];

/** Checks what a program or a configuration file gave. `baseDirectory`: what `keyFile` is relative to. Throws `misconfigured` with `data.path`. */
export const parseOptions = (options: Given, baseDirectory: string = process.cwd()): ParsedOptions => {
  refuseOtherMembers(options, names, "", "unknown option");
  const { client, quotaShare = 0.8 } = options;
  if (typeof quotaShare !== "number" || !(quotaShare >= minShare && quotaShare <= 1))
    throw misconfigured("quotaShare", `must be from ${minShare} to 1, got ${showValue(quotaShare)}`);
  if (client !== undefined && !(isObject(client) && typeof client.createExecution === "function"))
    throw misconfigured("client", "must be an ExecutionsClient");
  const keyFile = options.keyFile === undefined ? undefined : textAt(options, "keyFile", /./, "a path");
  const parsed: ParsedOptions = {
    project: textAt(options, "project", /^[a-zA-Z0-9][\w.:-]*$/, "a project's ID"),
    location: textAt(options, "location", /^[\w-]+$/, "a location, like europe-west1"),
    endpoint: endpointOf(options),
    keyFile: keyFile === undefined || isAbsolute(keyFile) ? keyFile : join(baseDirectory, keyFile),
    credentials: credentialsOf(options),
    client: client as ExecutionsClient | undefined,
    questions: parsePrompts(options.questions),
    quotaShare,
  };
  const given = (["client", "keyFile", "credentials"] as const).filter((name) => parsed[name] !== undefined);
  const [first, second] = given;
  if (first !== undefined && second !== undefined) throw misconfigured(first, `stands in place of ${second}`);
  if (parsed.endpoint?.protocol === "http:" && first !== undefined && first !== "client")
    throw misconfigured("endpoint", `credentials do not travel over http://: leave ${first} out`);
  if (parsed.keyFile !== undefined) checkKeyFile(parsed.keyFile);
  return parsed;
};
