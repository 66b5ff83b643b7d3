export { type Clock, systemClock } from "./contract/clock.ts";
