export {
  type BalancedRequest,
  type Balancer,
  type BalancerOptions,
  type BalancerOutcome,
  startRoundRobin,
} from "./round-robin.ts";
export type { BalancerTarget } from "./target-health.ts";
