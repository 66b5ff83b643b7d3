import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A Jest reporter that writes `.jest-result.json` into the package, with the fields of Jest's own `--json`. A flag cannot
 * write this file: turbo hashes flags into the builds too, so `npm test` would compile every package again.
 */
class ResultFile {
  /** @param {import("jest").Config} globalConfig */
  constructor({ rootDir = "." }) {
    this.file = join(rootDir, ".jest-result.json");
  }

  /**
   * @param {unknown} _contexts
   * @param {any} results An `AggregatedResult`.
   */
  onRunComplete(_contexts, results) {
    const {
      startTime,
      numTotalTests,
      numPassedTests,
      numFailedTests,
      numPendingTests,
      numTodoTests,
      numRuntimeErrorTestSuites,
    } = results;
    const testResults = results.testResults.map((/** @type {any} */ { testFilePath, perfStats, testResults }) => ({
      name: testFilePath,
      startTime: perfStats.start,
      endTime: perfStats.end,
      assertionResults: testResults.map((/** @type {any} */ { status, fullName }) => ({ status, fullName })),
    }));
    const counts = {
      numTotalTests,
      numPassedTests,
      numFailedTests,
      numPendingTests,
      numTodoTests,
      numRuntimeErrorTestSuites,
    };
    writeFileSync(this.file, JSON.stringify({ startTime, ...counts, testResults }));
  }
}

// biome-ignore lint/style/noDefaultExport: Jest asks for it.
export default ResultFile;
