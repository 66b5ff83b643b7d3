export {
  type FakeClock,
  fakeClock,
  type SharedMemory,
  type SharedMemoryHandle,
  type StoreFault,
  seeded,
  sharedMemory,
} from "@taskbridge/core/testing";
