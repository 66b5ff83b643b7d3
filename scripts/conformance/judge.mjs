/**
 * @typedef {import("./plan.mjs").Wire} Wire
 * @typedef {import("./plan.mjs").Exception} Exception
 * @typedef {import("./plan.mjs").LeftOut} LeftOut
 *
 * @typedef {object} Check As the suite writes it into `checks.json`.
 * @property {string} id
 * @property {string} status
 * @property {string} [errorMessage]
 * @property {string} [description]
 *
 * @typedef {Record<string, number>} CheckCounts By check, how often a scenario has to report it.
 *
 * @typedef {object} Verdict
 * @property {number} passed
 * @property {number} skipped
 * @property {number} gaps Expected failures and warnings.
 * @property {string[]} deviations One line for each check that is not as expected.
 * @property {Exception[]} accepted What is as expected, but not a success.
 */

/**
 * Compares what a scenario reported with what it has to report. The suite's exit code says too little: a scenario that skips
 * itself or reports fewer checks counts as passed there.
 * @param {readonly Check[] | undefined} checks Undefined: the scenario was not run.
 * @param {CheckCounts | undefined} expected
 * @param {readonly Exception[]} exceptions Of this scenario.
 * @returns {Verdict}
 */
export function judge(checks, expected, exceptions) {
  const reported = checks ?? [];
  /** @param {string} status */
  const asExpected = (status) =>
    reported.filter((check) => check.status === status && statusOf(check.id, exceptions) === status).length;
  return {
    passed: asExpected("SUCCESS"),
    skipped: asExpected("SKIPPED"),
    gaps: asExpected("FAILURE") + asExpected("WARNING"),
    accepted: exceptions.filter(({ check, status }) =>
      reported.some((one) => one.id === check && one.status === status),
    ),
    deviations: [
      ...(checks === undefined ? ["was not run"] : []),
      ...(expected === undefined ? ["has no expected checks: run with --record and review them"] : []),
      ...reported.flatMap((check) => compareStatus(check, statusOf(check.id, exceptions))),
      ...(checks === undefined || expected === undefined ? [] : compareCounts(countChecks(checks), expected)),
      ...exceptions
        .filter(({ check }) => expected !== undefined && expected[check] === undefined)
        .map(({ check }) => `${check}: excepted, but not an expected check`),
    ],
  };
}

/**
 * What the suite knows and the plan does not, and the other way round.
 * @param {ReadonlyMap<string, readonly string[]>} known By scenario, its revisions.
 * @param {readonly Wire[]} wires
 * @param {readonly LeftOut[]} leftOut
 * @returns {string[]}
 */
export function comparePlan(known, wires, leftOut) {
  const revisions = wires.map(({ revision }) => revision);
  const strange = [...known].filter(([, of]) => !of.some((revision) => revisions.includes(revision)));
  const differences = wires.flatMap(({ name, revision, scenarios }) => {
    const offered = [...known].filter(([, revisions]) => revisions.includes(revision)).map(([scenario]) => scenario);
    const planned = [
      ...scenarios,
      ...leftOut.filter(({ wires }) => wires.includes(name)).map(({ scenario }) => scenario),
    ];
    return [
      ...offered
        .filter((scenario) => !planned.includes(scenario))
        .map((scenario) => `${scenario} (${name}): neither run nor left out`),
      ...planned
        .filter((scenario) => !offered.includes(scenario))
        .map((scenario) => `${scenario} (${name}): not in the suite`),
      ...planned
        .filter((scenario, index) => planned.indexOf(scenario) !== index)
        .map((scenario) => `${scenario} (${name}): planned twice`),
    ];
  });
  return [
    ...differences,
    ...strange.map(([scenario, of]) => `${scenario}: for no revision that is run (${of.join(", ")})`),
  ];
}

/**
 * @param {readonly Check[]} checks
 * @returns {CheckCounts}
 */
export function countChecks(checks) {
  /** @type {CheckCounts} */
  const counts = {};
  for (const { id } of checks) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

/**
 * @param {string} id
 * @param {readonly Exception[]} exceptions
 */
function statusOf(id, exceptions) {
  return exceptions.find(({ check }) => check === id)?.status ?? "SUCCESS";
}

/**
 * @param {Check} check
 * @param {string} expected
 * @returns {string[]}
 */
function compareStatus({ id, status, errorMessage, description }, expected) {
  if (status === expected) return [];
  return [`${id}: ${status}, expected ${expected}: ${errorMessage ?? description ?? "no reason given"}`];
}

/**
 * @param {CheckCounts} actual
 * @param {CheckCounts} expected
 * @returns {string[]}
 */
function compareCounts(actual, expected) {
  return [...new Set([...Object.keys(expected), ...Object.keys(actual)])]
    .filter((id) => actual[id] !== expected[id])
    .map((id) => `${id}: reported ${actual[id] ?? 0} times, expected ${expected[id] ?? 0}`);
}
