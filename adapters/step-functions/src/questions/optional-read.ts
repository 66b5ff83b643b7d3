import { type CallContext, toBridgeError } from "@taskbridge/core/adapter";
import { logOnce } from "./log-once.ts";

/** How long nobody asks again (milliseconds): a policy is not changed more often. */
const quietMs = 60_000;

/** A read that operators may leave out of what is allowed, and whose failure is no news of an execution. */
export interface OptionalRead {
  /** True for a minute after it was denied for a machine: it is not worth a call. */
  isQuiet(machineArn: string): boolean;
  /** Logs why something is not seen, unless AWS does not show it (yet). */
  failed(machineArn: string, error: unknown, log: CallContext["log"]): void;
}

/** `lost`: what is not seen without it. */
export const optionalRead = (lost: string): OptionalRead => {
  const deniedAt = new Map<string, number>();
  const warn = logOnce();
  return {
    isQuiet: (machineArn) => performance.now() - (deniedAt.get(machineArn) ?? Number.NEGATIVE_INFINITY) < quietMs,
    failed: (machineArn, error, log) => {
      const { code, message } = toBridgeError(error);
      if (code === "denied") deniedAt.set(machineArn, performance.now());
      if (code !== "not_found") warn(`${lost}: ${message}`, log);
    },
  };
};
