/**
 * @typedef {object} Row
 * @property {import("./plan.mjs").WireName} wire
 * @property {string} scenario
 * @property {import("./judge.mjs").Verdict} verdict
 */

/**
 * Prints what was run, what was left out, every deviation, and last the summary.
 * @param {readonly Row[]} rows
 * @param {readonly import("./plan.mjs").LeftOut[]} leftOut
 * @param {readonly string[]} otherDeviations
 */
export function printResults(rows, leftOut, otherDeviations) {
  const width = Math.max(...[...rows, ...leftOut].map(({ scenario }) => scenario.length));
  console.log(`\n${"scenario".padEnd(width)}  wire        passed  failed  skipped`);
  for (const { scenario, wire, verdict } of rows) {
    const { passed, skipped, deviations, accepted } = verdict;
    const counts = `${cell(passed, 6)}${cell(deviations.length, 8)}${cell(skipped, 9)}`;
    console.log(`${scenario.padEnd(width)}  ${wire.padEnd(10)}  ${counts}`);
    for (const { check, status, reason } of accepted) console.log(`  ${status} ${check}: ${reason}`);
  }
  console.log(`\n${"left out".padEnd(width)}  wire        reason`);
  for (const { scenario, wires, reason } of leftOut) {
    for (const wire of wires) console.log(`${scenario.padEnd(width)}  ${wire.padEnd(10)}  ${reason}`);
  }
  const deviations = [
    ...otherDeviations,
    ...rows.flatMap(({ scenario, wire, verdict }) =>
      verdict.deviations.map((text) => `${scenario} (${wire}): ${text}`),
    ),
  ];
  if (deviations.length > 0) console.log("\nnot as expected");
  for (const deviation of deviations) console.log(`  ${deviation}`);
  console.log(`\n${toSummary(rows, deviations.length)}`);
}

/**
 * @param {readonly Row[]} rows
 * @param {number} failed
 */
function toSummary(rows, failed) {
  /** @param {"passed" | "skipped" | "gaps"} what */
  const sum = (what) => rows.reduce((total, { verdict }) => total + verdict[what], 0);
  const counts = `${sum("passed")} checks passed, ${failed} failed, ${sum("skipped")} skipped`;
  return `conformance: ${rows.length} scenarios, ${counts} (${sum("gaps")} known gaps, each with its reason above)`;
}

/**
 * @param {number} value
 * @param {number} width
 */
function cell(value, width) {
  return String(value).padStart(width);
}
