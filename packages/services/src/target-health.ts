import { request } from "node:http";

export interface BalancerTarget {
  readonly host: string;
  readonly port: number;
}

/** Knows which targets take requests. */
export interface TargetHealth {
  isUp(target: BalancerTarget): boolean;
  /** Looks at all of them now. */
  probe(): Promise<void>;
  close(): void;
}

export interface TargetHealthOptions {
  /** Is answered with a 2xx by a target that takes requests. Undefined: every target is taken to. */
  readonly path: string | undefined;
  /** Between two looks (milliseconds). */
  readonly everyMs: number;
  readonly targets: () => readonly BalancerTarget[];
}

/** A target that does not answer a look is taken out after this long (milliseconds). */
const patienceMs = 2_000;

/** A target that was never looked at is taken to be up. */
export const watchHealth = ({ path, everyMs, targets }: TargetHealthOptions): TargetHealth => {
  const down = new Set<string>();
  const probe = async (): Promise<void> => {
    if (path === undefined) return;
    await Promise.all(
      targets().map(async (target) => {
        const isUp = await answersWell(target, path);
        if (isUp) down.delete(nameOf(target));
        else down.add(nameOf(target));
      }),
    );
  };
  let timer: NodeJS.Timeout | undefined;
  const probeAgain = async (): Promise<void> => {
    await probe();
    timer?.refresh();
  };
  timer = path === undefined ? undefined : setTimeout(() => void probeAgain(), everyMs);
  return {
    isUp: (target) => !down.has(nameOf(target)),
    probe,
    close: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
};

export const nameOf = ({ host, port }: BalancerTarget): string => `${host}:${port}`;

const answersWell = ({ host, port }: BalancerTarget, path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const asked = request({ host, port, path, agent: false, timeout: patienceMs }, (response) => {
      response.resume();
      resolve(Math.floor((response.statusCode ?? 0) / 100) === 2);
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer in time")));
    asked.on("error", () => resolve(false));
    asked.end();
  });
