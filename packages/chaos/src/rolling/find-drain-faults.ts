import type { BalancerOutcome } from "@taskbridge/services/balancer";

/** A replica that was told to stop. Instants: epoch milliseconds. */
export interface Drain {
  /** `host:port`. */
  readonly target: string;
  readonly reportedAt: number;
  /** Its process was gone. */
  readonly goneAt: number;
  readonly exitCode: number | null;
}

/** Whatever was asked of a replica between its being told to stop and its end, and was not answered as it should be. */
export const findDrainFaults = (outcomes: readonly BalancerOutcome[], drains: readonly Drain[]): readonly string[] => [
  ...drains
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ target, exitCode }) => `${target} has ended with ${exitCode}`),
  ...outcomes.flatMap(({ request, target, outcome, startedAt, endedAt }) => {
    const drain = drains.find((one) => one.target === target && endedAt >= one.reportedAt && startedAt <= one.goneAt);
    const hasFailed = typeof outcome === "number" ? outcome >= 500 : outcome !== "left";
    if (drain === undefined || !hasFailed || isStream(request.headers["accept"], request.method)) return [];
    return [
      `${request.method} ${nameOf(request.headers)} at ${target}: ${outcome}, ${startedAt - drain.reportedAt} ms after it was told to stop`,
    ];
  }),
];

/** A stream of news has no answer that could be missed: its client opens another. */
const isStream = (_accept: unknown, method: string): boolean => method === "GET";

const nameOf = (headers: BalancerOutcome["request"]["headers"]): string =>
  String(headers["mcp-method"] ?? headers["mcp-session-id"] ?? "");
