import { requireOption } from "../require-option.ts";
import type { CloseOptions } from "../task-server-options.ts";

/** The time in which a server that is about to stop sees requests go elsewhere, and still serves those that come. */
export interface Drain {
  /** True from its beginning on. */
  isOn(): boolean;
  /** Begins it. Resolves when it is over: after so long (milliseconds), or when it is cut short. Real time: a stop has an end. */
  run(ms: number): Promise<void>;
  /** Cuts it short. */
  end(): void;
}

export const createDrain = (): Drain => {
  let isOn = false;
  let end: () => void = () => {};
  return {
    isOn: () => isOn,
    run: async (ms) => {
      isOn = true;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        end = resolve;
        timer = setTimeout(resolve, ms);
      });
      clearTimeout(timer);
    },
    end: () => end(),
  };
};

/** Milliseconds. */
const maxDrainMs = 600_000;

/** Throws `misconfigured` (`data.path`). */
export const parseDrainMs = ({ drainMs = 0 }: CloseOptions = {}): number => {
  const isGood = Number.isSafeInteger(drainMs) && drainMs >= 0 && drainMs <= maxDrainMs;
  requireOption(isGood, "drainMs", `0 to ${maxDrainMs} is needed`, drainMs);
  return drainMs;
};
