// Runs the tests of every package and closes with the sum over all of them.
// Arguments go to turbo: `npm test -- --filter=@taskbridge/core`.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";
import { root, run, turbo } from "./workspace/run.mjs";

const resultName = ".jest-result.json";
/** Starts the engines that tests need. */
const services = "@taskbridge/services";
const turboArgs = process.argv.slice(2);

await install();
const packages = workspacePackages().filter(({ manifest }) => manifest.scripts?.test);
for (const { folder } of packages) rmSync(join(root, folder, resultName), { force: true });

// Two at a time, since many tests wait for something; each package's output comes whole, when it is done.
const turboFlags = [
  "--concurrency=2",
  "--continue=dependencies-successful",
  "--log-order=grouped",
  "--log-prefix=none",
];
const jestFlags = ["--json", `--outputFile=${resultName}`];
const selection = turboArgs.length > 0;
const code = selection ? await test(turboArgs) : await testAll();

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
 * @param {readonly string[]} filters And other flags of turbo.
 * @returns {Promise<number>} The exit code.
 */
async function test(filters) {
  return (await turbo(["run", "test", ...turboFlags, ...filters, "--", ...jestFlags])).code;
}

/**
 * Those that need an engine come last: a first time, one takes a minute to install, which others can be tested in.
 * @returns {Promise<number>} The exit code.
 */
async function testAll() {
  const built = await turbo(["run", "build", "--continue=dependencies-successful", "--output-logs=errors-only"]);
  const engines = run(process.execPath, ["packages/services/install-engines.mjs"]);
  // Only: turbo would build everything anew, since it takes Jest's flags for those of the builds as well.
  const codes = [built.code, await test(["--only", `--filter=!...${services}`])];
  // What it could not have, those that need it say, each by name.
  await engines;
  codes.push(await test(["--only", `--filter=...${services}`]));
  return codes.find((code) => code !== 0) ?? 0;
}

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
