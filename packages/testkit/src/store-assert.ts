import assert from "node:assert/strict";
import { type BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/store";

/**
 * Compares as JSON: what a store hands out may come from another realm (`structuredClone` under Jest), whose prototypes a
 * strict comparison would hold against it.
 */
export const assertSame = (actual: unknown, expected: unknown): void =>
  assert.deepEqual(toPlain(actual), toPlain(expected));

const toPlain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Waits for a rejection with that code and returns the error. */
export const assertRejects = async (promise: Promise<unknown>, code: BridgeErrorCode): Promise<BridgeError> => {
  const error = await promise.then(
    (value) => assert.fail(`resolved with ${JSON.stringify(value)} instead of rejecting with ${code}`),
    (reason: unknown) => reason,
  );
  assert.ok(isBridgeError(error), `rejected with ${String(error)} instead of a BridgeError`);
  assert.equal(error.code, code, error.message);
  return error;
};

/** Sorts outcomes into values and errors; anything thrown that is not a BridgeError of that code fails. */
export const settleAll = async <Value>(
  promises: readonly Promise<Value>[],
  code: BridgeErrorCode,
): Promise<{ values: Value[]; errors: BridgeError[] }> => {
  const values: Value[] = [];
  const errors: BridgeError[] = [];
  for (const outcome of await Promise.allSettled(promises)) {
    if (outcome.status === "fulfilled") values.push(outcome.value);
    else errors.push(await assertRejects(Promise.reject(outcome.reason), code));
  }
  return { values, errors };
};
