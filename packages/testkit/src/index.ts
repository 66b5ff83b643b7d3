export { type FakeClock, fakeClock } from "./fake-clock.ts";
export { seeded } from "./seeded.ts";
export { type SharedMemory, type SharedMemoryHandle, type StoreFault, sharedMemory } from "./shared-memory.ts";
