export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { seeded } from "./seeded.ts";
