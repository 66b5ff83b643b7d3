import { fileURLToPath } from "node:url";

/**
 * Native ESM tests in TypeScript: start Jest with `node --experimental-vm-modules`. Paths are those of the package whose
 * `jest.config.mjs` re-exports this; other workspace packages resolve to their built `dist`, as they do for users.
 * @type {import("jest").Config}
 */
export const jestConfig = {
  testEnvironment: "node",
  // Runs that only measure or wait for minutes are `*.soak.ts`: `npm run soak` has the time for them.
  testMatch: [
    "<rootDir>/test/**/*.test.ts",
    ...(process.env.TASKBRIDGE_SOAK === "1" ? ["<rootDir>/test/**/*.soak.ts"] : []),
  ],
  extensionsToTreatAsEsm: [".ts"],
  transform: {
    "\\.ts$": [
      fileURLToPath(import.meta.resolve("@swc/jest")),
      { swcrc: false, jsc: { parser: { syntax: "typescript" } } },
    ],
  },
  // `npm test` sets this variable, and sums up the files; a run by hand, perhaps of one test, leaves them alone.
  reporters: [
    "default",
    ...(process.env.TASKBRIDGE_TEST_ENGINES === undefined
      ? []
      : [fileURLToPath(new URL("./result-file.mjs", import.meta.url))]),
  ],
  maxWorkers: 2,
  testSequencer: fileURLToPath(new URL("./slow-first.mjs", import.meta.url)),
  testTimeout: 40_000,
};
