import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { AwsError, notSigned, toShapeId, wrongRegion } from "./aws-error.ts";

const largestBytes = 1_048_576;
const contentType = "application/x-amz-json-1.0";

export type JsonInput = Readonly<Record<string, unknown>>;

/** A request in AWS JSON 1.0. */
export interface WireRequest {
  readonly action: string;
  readonly input: JsonInput;
}

export const readRequest = async (message: IncomingMessage, region: string): Promise<WireRequest> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const target = String(message.headers["x-amz-target"] ?? "");
  const action = /^AWSStepFunctions\.(\w+)$/.exec(target)?.[1];
  if (action === undefined) throw new AwsError("UnknownOperationException", "", 404);
  if (body.length > largestBytes) throw new AwsError("RequestEntityTooLargeException", "", 413);
  checkScope(message.headers.authorization, region);
  return { action, input: parseInput(body.toString()) };
};

/** The signature itself is not checked: any key will do. */
const checkScope = (authorization: string | undefined, region: string): void => {
  const [, scope] = /Credential=[^/]+\/\d{8}\/([^/]+)\/states\/aws4_request/.exec(authorization ?? "") ?? [];
  if (scope === undefined) throw notSigned();
  if (scope !== region) throw wrongRegion();
};

const parseInput = (text: string): JsonInput => {
  try {
    return JSON.parse(text);
  } catch {
    throw new AwsError("SerializationException", "", 400);
  }
};

/** Instants are seconds, with the milliseconds behind the point. */
const toJson = (value: unknown): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, key: string, plain: unknown) {
    const raw = this[key];
    return raw instanceof Date ? raw.getTime() / 1_000 : plain;
  });

const send = (response: ServerResponse, status: number, headers: Record<string, string>, body: string): void => {
  response.writeHead(status, {
    "content-type": contentType,
    "content-length": Buffer.byteLength(body),
    "x-amzn-requestid": randomUUID(),
    ...headers,
  });
  response.end(body);
};

export const sendOutput = (response: ServerResponse, output: object): void => send(response, 200, {}, toJson(output));

export const sendError = (response: ServerResponse, { type, status, message, more }: AwsError): void => {
  const body = { __type: toShapeId(type), ...(message === "" ? {} : { message }), ...more };
  send(response, status, { "x-amzn-errortype": type }, toJson(body));
};
