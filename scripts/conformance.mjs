// Runs the official MCP conformance suite against a server of ours and compares every single check with what is expected.
// `--record` writes down how often each check is reported, after a change of the suite's version; review the difference.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFixture } from "./conformance/fixture.mjs";
import { comparePlan, countChecks, judge } from "./conformance/judge.mjs";
import { exceptions, leftOut, wires } from "./conformance/plan.mjs";
import { printResults } from "./conformance/print-results.mjs";
import { listScenarios, prepareSuite, runSuite } from "./conformance/suite.mjs";
import { install } from "./workspace/install.mjs";
import { root, turbo } from "./workspace/run.mjs";

/** @typedef {Map<string, import("./conformance/judge.mjs").Check[]>} Results By scenario. */

const suiteMs = 70_000;
const expectedFile = join(root, "packages", "server", "test", "conformance", "expected.json");
const flags = process.argv.slice(2);
if (flags.some((flag) => flag !== "--record")) {
  console.error(`conformance: there is no ${flags.join(" ")}, only --record.`);
  process.exit(2);
}

await install();
const build = await turbo(["run", "build", "--filter=@taskbridge/server", "--output-logs=errors-only"]);
if (build.code !== 0) process.exit(build.code);
const suite = await prepareSuite();
process.exitCode = typeof suite === "string" ? reportMissing(suite) : await runAll(suite);

/** @param {string} reason */
function reportMissing(reason) {
  const required = process.env.TASKBRIDGE_REQUIRE_ENGINES === "1";
  console.error(`\nconformance: ${required ? "FAILED" : "SKIPPED, NOTHING WAS TESTED"}: ${reason}`);
  return required ? 1 : 0;
}

/**
 * @param {import("./conformance/suite.mjs").Suite} suite
 * @returns {Promise<number>} The exit code.
 */
async function runAll(suite) {
  console.log(`MCP conformance suite ${suite.version} on Node ${suite.nodeVersion}`);
  const interrupted = new AbortController();
  process.once("SIGINT", () => interrupted.abort()).once("SIGTERM", () => interrupted.abort());
  const folder = mkdtempSync(join(tmpdir(), "taskbridge-conformance-"));
  try {
    const known = await listScenarios(suite, interrupted.signal);
    const results = await runWires(suite, folder, interrupted.signal);
    if (flags.includes("--record")) record(results);
    return report(results, comparePlan(known, wires, leftOut));
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    console.error("conformance: interrupted");
    return 130;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * One wire after the other, against one server.
 * @param {import("./conformance/suite.mjs").Suite} suite
 * @param {string} folder
 * @param {AbortSignal} signal
 * @returns {Promise<Map<string, Results>>} By wire.
 */
async function runWires(suite, folder, signal) {
  const results = new Map();
  const fixture = await startFixture(join(folder, "server"), signal);
  try {
    for (const { name, flags: wireFlags } of wires) {
      const target = join(folder, name);
      const args = ["server", "--url", fixture.url, "--output-dir", target, ...wireFlags];
      const { code, output } = await runSuite(suite, args, { timeoutMs: suiteMs, signal });
      results.set(name, readResults(target));
      if (code === null) console.error(`${name}: given up after ${suiteMs} ms`);
      if (code === null || results.get(name).size === 0) console.error(output.slice(-2_000));
      if (!fixture.isRunning()) throw new Error(`the server under test ended during ${name}`);
    }
  } finally {
    await fixture.stop();
  }
  return results;
}

/**
 * @param {string} folder With one folder for each scenario, `server-<scenario>-<time>`.
 * @returns {Results}
 */
function readResults(folder) {
  /** @type {Results} */
  const results = new Map();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1];
    const file = join(folder, name, "checks.json");
    if (scenario === undefined || !existsSync(file)) continue;
    results.set(scenario, JSON.parse(readFileSync(file, "utf8")));
  }
  return results;
}

/** @param {Map<string, Results>} results */
function record(results) {
  const counts = wires.map(({ name, scenarios }) => [
    name,
    Object.fromEntries(scenarios.map((scenario) => [scenario, countChecks(results.get(name)?.get(scenario) ?? [])])),
  ]);
  writeFileSync(expectedFile, `${JSON.stringify(Object.fromEntries(counts), null, 2)}\n`);
}

/**
 * @param {Map<string, Results>} results
 * @param {readonly string[]} planDeviations
 * @returns {number} The exit code.
 */
function report(results, planDeviations) {
  /** @type {Record<string, Record<string, import("./conformance/judge.mjs").CheckCounts>>} */
  const expected = JSON.parse(readFileSync(expectedFile, "utf8"));
  const rows = wires.flatMap(({ name, scenarios }) =>
    scenarios.map((scenario) => ({
      wire: name,
      scenario,
      verdict: judge(
        results.get(name)?.get(scenario),
        expected[name]?.[scenario],
        exceptions.filter((one) => one.wire === name && one.scenario === scenario),
      ),
    })),
  );
  printResults(rows, leftOut, planDeviations);
  return planDeviations.length > 0 || rows.some(({ verdict }) => verdict.deviations.length > 0) ? 1 : 0;
}
