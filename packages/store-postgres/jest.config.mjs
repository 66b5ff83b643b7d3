import { fileURLToPath } from "node:url";
import { jestConfig } from "@taskbridge/config/jest";

/** @type {import("jest").Config} */
const config = {
  ...jestConfig,
  globalSetup: fileURLToPath(new URL("test/start-shared-server.mjs", import.meta.url)),
  globalTeardown: fileURLToPath(new URL("test/stop-shared-server.mjs", import.meta.url)),
};

export { config as default };
