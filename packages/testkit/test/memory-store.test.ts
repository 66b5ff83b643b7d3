import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock, type SharedMemory, sharedMemory } from "@taskbridge/testkit";
import { testStore } from "@taskbridge/testkit/store";

const clock = fakeClock();

testStore({
  name: "memoryStore",
  open: async () => memoryStore({ clock }),
  elapse: (ms) => clock.advance(ms),
  runner: { describe, it, beforeEach, afterEach },
});

let shared: SharedMemory;

testStore({
  name: "sharedMemory",
  open: async () => {
    shared = sharedMemory({ clock });
    return shared.open();
  },
  reopen: async () => shared.open(),
  elapse: (ms) => clock.advance(ms),
  runner: { describe, it, beforeEach, afterEach },
});
