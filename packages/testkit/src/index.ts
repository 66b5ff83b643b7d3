export { type FakeClock, fakeClock } from "./fake-clock.ts";
