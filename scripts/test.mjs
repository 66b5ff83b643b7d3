// Runs the tests of every package and closes with the sum over all of them.
// Arguments go to turbo: `npm test -- --filter=@taskbridge/core`.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";
import { root, turbo } from "./workspace/run.mjs";

const resultName = ".jest-result.json";
const turboArgs = process.argv.slice(2);

await install();
const packages = workspacePackages().filter(({ manifest }) => manifest.scripts?.test);
for (const { folder } of packages) rmSync(join(root, folder, resultName), { force: true });

const turboFlags = ["--concurrency=1", "--continue=dependencies-successful", "--log-prefix=none", ...turboArgs];
const jestFlags = ["--json", `--outputFile=${resultName}`];
const { code } = await turbo(["run", "test", ...turboFlags, "--", ...jestFlags]);

const selection = turboArgs.length > 0;
const results = packages
  .map(({ folder, manifest }) => ({ name: manifest.name, ...readResult(folder) }))
  .filter(({ ran }) => ran || !selection);
const total = { passed: 0, failed: 0, skipped: 0 };

const width = Math.max(...results.map(({ name }) => name.length));
console.log("\nAll packages");
for (const { name, ran, passed, failed, skipped, skippedTests } of results) {
  console.log(
    `  ${name.padEnd(width)}  ${ran ? `${passed} passed, ${failed} failed, ${skipped} skipped` : "did not run"}`,
  );
  for (const test of skippedTests) console.log(`    skipped: ${test}`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = code !== 0 ? code : total.failed > 0 ? 1 : 0;

/**
 * A package without a result (its build broke, its run crashed) and a test file that could not be loaded count as a failure.
 * @param {string} folder
 */
function readResult(folder) {
  const file = join(root, folder, resultName);
  if (!existsSync(file)) return { ran: false, passed: 0, failed: 1, skipped: 0, skippedTests: [] };
  const jest = JSON.parse(readFileSync(file, "utf8"));
  /** @type {{ status: string, fullName: string }[]} */
  const tests = jest.testResults.flatMap(
    (/** @type {{ assertionResults: unknown[] }} */ suite) => suite.assertionResults,
  );
  return {
    ran: true,
    passed: jest.numPassedTests,
    failed: jest.numFailedTests + jest.numRuntimeErrorTestSuites,
    skipped: jest.numPendingTests + jest.numTodoTests,
    skippedTests: tests
      .filter(({ status }) => status === "pending" || status === "todo")
      .map(({ fullName }) => fullName),
  };
}
