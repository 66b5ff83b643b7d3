import { BridgeError, type BridgeErrorCode, type BridgeErrorDetails, type CallContext } from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";

export type FakeVerb =
  | "start"
  | "inspect"
  | "cancel"
  | "answer"
  | "heartbeat"
  | "find"
  | "watch"
  | "receive"
  | "readOutput"
  | "forget"
  | "discover"
  | "check";

/**
 * How a call goes wrong. `hang`: no answer until the caller's signal fires. `lost-answer`: `outcome_unknown` at once. A
 * code, alone or with details, is that error.
 */
export type FakeFailure =
  | "hang"
  | "lost-answer"
  | BridgeErrorCode
  | (BridgeErrorDetails & { readonly code: BridgeErrorCode; readonly message?: string });

/** What happens to one call of a verb. */
export interface FakeFault {
  /** Milliseconds that pass before the backend gets the call. */
  readonly delayMs?: number;
  /** The call fails and the backend does nothing. */
  readonly before?: FakeFailure;
  /** Milliseconds between what the backend does and its answer. */
  readonly answerDelayMs?: number;
  /** The backend does its part, and then the call fails. */
  readonly after?: FakeFailure;
}

export interface FakeFaults {
  /** The next `times` calls of the verb that have no fault yet go like this. Faults queue up in the order of these calls. */
  next(verb: FakeVerb, fault: FakeFault, times?: number): void;
  /** Every call of the verb goes like this, once the queued ones are used up. */
  always(verb: FakeVerb, fault: FakeFault): void;
  /** Forgets the faults of one verb, or of all. Calls that already hang go on hanging. */
  clear(verb?: FakeVerb): void;
}

const writes: ReadonlySet<FakeVerb> = new Set(["start", "cancel", "answer", "heartbeat", "forget"]);

/** Resolves after a pause by the clock, rejects as soon as the signal fires. */
export const pause = (clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> =>
  orAborted(signal, (resolve) => clock.schedule(delayMs, resolve));

const orAborted = (signal: AbortSignal, begin: (resolve: () => void) => (() => void) | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const callOff = begin(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    });
    const abort = (): void => {
      callOff?.();
      reject(signal.reason);
    };
    signal.addEventListener("abort", abort, { once: true });
  });

export interface FaultQueue extends FakeFaults {
  /** Makes one call of a verb, with whatever fault comes next. `act` is what the backend does. */
  apply<T>(verb: FakeVerb, context: Pick<CallContext, "signal">, act: () => T | Promise<T>): Promise<T>;
}

export const createFaultQueue = (clock: Clock): FaultQueue => {
  const queued = new Map<FakeVerb, FakeFault[]>();
  const status = new Map<FakeVerb, FakeFault>();
  return {
    next: (verb, fault, times = 1) => {
      queued.set(verb, [...(queued.get(verb) ?? []), ...Array.from({ length: times }, () => fault)]);
    },
    always: (verb, fault) => {
      status.set(verb, fault);
    },
    clear: (verb) => {
      for (const faults of [queued, status]) verb === undefined ? faults.clear() : faults.delete(verb);
    },
    apply: async (verb, context, act) => {
      const fault = queued.get(verb)?.shift() ?? status.get(verb) ?? {};
      const { signal } = context;
      if (signal.aborted) throw unanswered(verb, false, signal.reason);
      if (fault.delayMs !== undefined) await waitOr(clock, fault.delayMs, signal, verb, false);
      if (fault.before !== undefined) await fail(fault.before, verb, signal);
      const result = await act();
      if (fault.answerDelayMs !== undefined) await waitOr(clock, fault.answerDelayMs, signal, verb, true);
      if (fault.after !== undefined) await fail(fault.after, verb, signal);
      return result;
    },
  };
};

const waitOr = (clock: Clock, delayMs: number, signal: AbortSignal, verb: FakeVerb, maySent: boolean): Promise<void> =>
  pause(clock, delayMs, signal).catch((reason) => {
    throw unanswered(verb, maySent, reason);
  });

const fail = async (failure: FakeFailure, verb: FakeVerb, signal: AbortSignal): Promise<never> => {
  if (failure === "hang") {
    await orAborted(signal, () => undefined).catch((reason) => {
      throw unanswered(verb, true, reason);
    });
  }
  if (failure === "hang" || failure === "lost-answer") throw unanswered(verb, true, undefined);
  const details = typeof failure === "string" ? { code: failure } : failure;
  throw new BridgeError(details.code, details.message ?? `scripted ${details.code} of ${verb}`, {
    operation: verb,
    ...details,
  });
};

/** What a caller can know when no answer came: of a write that may have been sent, nothing. */
const unanswered = (verb: FakeVerb, maySent: boolean, cause: unknown): BridgeError =>
  maySent && writes.has(verb)
    ? new BridgeError("outcome_unknown", `no answer to ${verb}`, { operation: verb, cause })
    : new BridgeError("unavailable", `no answer to ${verb}`, { operation: verb, notSent: !maySent, cause });
