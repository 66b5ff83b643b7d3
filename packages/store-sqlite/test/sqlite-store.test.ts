import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "@jest/globals";
import { sqliteStore } from "@taskbridge/store-sqlite";
import { fakeClock } from "@taskbridge/testkit";
import { testStore } from "@taskbridge/testkit/store";

const clock = fakeClock();
let path = "";

afterEach(() => rmSync(path, { recursive: true, force: true }));

testStore({
  name: "sqliteStore",
  open: () => {
    path = mkdtempSync(join(tmpdir(), "store-sqlite-"));
    return sqliteStore({ path: join(path, "tasks.db"), clock });
  },
  reopen: () => sqliteStore({ path: join(path, "tasks.db"), clock }),
  elapse: (ms) => clock.advance(ms),
  runner: { describe, it, beforeEach, afterEach },
});
