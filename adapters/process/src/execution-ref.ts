import { asExecutionRef, BridgeError, type ExecutionRef } from "@taskbridge/core/adapter";

/** The same as a start key's, so that no ref leads out of the directory. */
const keyShape = /^[a-z][a-z0-9_-]{0,62}$/;

export const isKey = (value: unknown): value is string => typeof value === "string" && keyShape.test(value);

export const toRef = (key: string): ExecutionRef => asExecutionRef(JSON.stringify({ v: 1, key }));

/** The key under which the execution was started. Refs of every earlier version must be understood for ever. */
export const parseRef = (ref: ExecutionRef): string => {
  let value: unknown;
  try {
    value = JSON.parse(ref);
  } catch {
    value = undefined;
  }
  const { v, key } = (value ?? {}) as { v?: unknown; key?: unknown };
  if (v === 1 && isKey(key)) return key;
  throw new BridgeError("invalid_input", `not a reference of the process adapter: ${ref.slice(0, 100)}`, {
    data: { path: "ref" },
  });
};
