// Runs the tests of every package and closes with the sum over all of them. Arguments go to turbo:
// `npm test -- --filter=@taskbridge/core`. A package whose inputs are as they were is not run: turbo replays its result.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";
import { root, run, turbo } from "./workspace/run.mjs";

const resultName = ".jest-result.json";
/** Starts the engines that tests need. */
const services = "@taskbridge/services";
const turboArgs = process.argv.slice(2);
const startedAt = Date.now();

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
const selection = turboArgs.length > 0;
const code = selection ? await testSelection() : await testAll();

const results = packages
  .map(({ folder, manifest }) => ({ name: manifest.name, ...readResult(folder) }))
  .filter(({ ran }) => ran || !selection);
const total = { passed: 0, failed: 0, skipped: 0, replayed: 0 };

const width = Math.max(...results.map(({ name }) => name.length));
console.log("\nAll packages");
for (const { name, ran, replayed, passed, failed, skipped, skippedTests } of results) {
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped${replayed ? ", replayed" : ""}`;
  console.log(`  ${name.padEnd(width)}  ${ran ? counts : "did not run"}`);
  for (const test of skippedTests) console.log(`    skipped: ${test}`);
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  total.replayed += replayed ? 1 : 0;
}
console.log(`\n${total.replayed} of ${results.length} packages replayed`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = code !== 0 ? code : total.failed > 0 ? 1 : 0;

/** @returns {Promise<number>} The exit code. */
async function testSelection() {
  const built = await build([`--filter=${services}`]);
  return built === 0 ? test(turboArgs, await listEngines()) : built;
}

/**
 * While engines are missing, packages that need none are tested during the installation, which takes a minute.
 * @returns {Promise<number>} The exit code.
 */
async function testAll() {
  const built = await build([]);
  const engines = await listEngines();
  if (!engines.includes('"missing"')) return (await test([], engines)) || built;
  const installed = run(process.execPath, ["packages/services/install-engines.mjs"]);
  const first = await test([`--filter=!...${services}`], engines);
  // An engine that could not be installed is named by the tests that need it.
  await installed;
  const second = await test([`--filter=...${services}`], await listEngines());
  return built || first || second;
}

/**
 * @param {readonly string[]} filters
 * @returns {Promise<number>} The exit code.
 */
async function build(filters) {
  const flags = ["--continue=dependencies-successful", "--output-logs=errors-only"];
  return (await turbo(["run", "build", ...flags, ...filters])).code;
}

/**
 * @param {readonly string[]} filters And other flags of turbo.
 * @param {string} engines
 * @returns {Promise<number>} The exit code.
 */
async function test(filters, engines) {
  // turbo.json has turbo hash TASKBRIDGE_*: a run without an engine, or with another Node, is no result for this one.
  const env = { TASKBRIDGE_TEST_ENGINES: engines, TASKBRIDGE_TEST_NODE: process.version };
  return (await turbo(["run", "test", ...turboFlags, ...filters], { env })).code;
}

/** @returns {Promise<string>} Which engines the tests will find, as JSON. */
async function listEngines() {
  const { code, output } = await run(process.execPath, ["packages/services/list-engines.mjs"], { quiet: true });
  if (code === 0) return output.trim();
  console.error(`The engines of the tests cannot be listed:\n${output}`);
  process.exit(1);
}

/**
 * A package without a result (its build broke, its run crashed) and a test file that could not be loaded count as a failure.
 * @param {string} folder
 */
function readResult(folder) {
  const file = join(root, folder, resultName);
  if (!existsSync(file)) return { ran: false, replayed: false, passed: 0, failed: 1, skipped: 0, skippedTests: [] };
  const jest = JSON.parse(readFileSync(file, "utf8"));
  /** @type {{ status: string, fullName: string }[]} */
  const tests = jest.testResults.flatMap(
    (/** @type {{ assertionResults: unknown[] }} */ suite) => suite.assertionResults,
  );
  return {
    ran: true,
    replayed: jest.startTime < startedAt,
    passed: jest.numPassedTests,
    failed: jest.numFailedTests + jest.numRuntimeErrorTestSuites,
    skipped: jest.numPendingTests + jest.numTodoTests,
    skippedTests: tests
      .filter(({ status }) => status === "pending" || status === "todo")
      .map(({ fullName }) => fullName),
  };
}
