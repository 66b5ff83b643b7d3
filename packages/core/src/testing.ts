export { type FakeAdapterOptions, fakeAdapter } from "./testing/fake-adapter.ts";
export type { FakeBackend, FakeCall } from "./testing/fake-adapter-backend.ts";
export type { FakeEvents } from "./testing/fake-adapter-events.ts";
export type { FakeExecution, FakeStreamOptions, FakeTarget } from "./testing/fake-adapter-execution.ts";
export type { FakeFailure, FakeFault, FakeFaults, FakeVerb } from "./testing/fake-adapter-faults.ts";
export type { FakeAnswer, FakeQuestion } from "./testing/fake-adapter-questions.ts";
export { type FakeClock, fakeClock } from "./testing/fake-clock.ts";
export { seeded } from "./testing/seeded.ts";
export { type SharedMemory, type SharedMemoryHandle, type StoreFault, sharedMemory } from "./testing/shared-memory.ts";
