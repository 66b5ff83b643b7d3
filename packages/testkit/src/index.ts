export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { seeded } from "./seeded.ts";
export { type SharedMemory, type SharedMemoryHandle, sharedMemory } from "./shared-memory.ts";
