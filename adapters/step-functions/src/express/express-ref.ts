import { asExecutionRef, BridgeError, type ExecutionRef, isObject } from "@taskbridge/core/adapter";

/** What an Express execution is known by here: AWS gives it an ARN that nobody can ask for. */
export interface ExpressLocation {
  readonly key: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

export const toExpressRef = ({ key, startedAt }: ExpressLocation): ExecutionRef =>
  asExecutionRef(JSON.stringify({ v: 1, express: key, at: startedAt }));

export const parseExpressRef = (ref: ExecutionRef): ExpressLocation => {
  let value: unknown;
  try {
    value = JSON.parse(ref);
  } catch {
    value = undefined;
  }
  if (isObject(value) && value.v === 1 && typeof value.express === "string" && typeof value.at === "number")
    return { key: value.express, startedAt: value.at };
  throw new BridgeError("invalid_input", `not a reference of an Express execution: ${ref.slice(0, 100)}`, {
    data: { path: "ref" },
  });
};
