import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import { testStore } from "@taskbridge/testkit/store";

const clock = fakeClock();

testStore({
  name: "memoryStore",
  open: async () => memoryStore({ clock }),
  elapse: (ms) => clock.advance(ms),
  runner: { describe, it, beforeEach, afterEach },
});
