export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/** A promise that is settled from outside. Whoever does not wait for it need not hear of its rejection. */
export const deferred = <Value>(): Deferred<Value> => {
  let resolve = (_value: Value): void => {};
  let reject = (_error: unknown): void => {};
  const promise = new Promise<Value>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  promise.catch(() => {});
  return { promise, resolve: (value) => resolve(value), reject: (error) => reject(error) };
};
