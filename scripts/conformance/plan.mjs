/**
 * What is run of the official suite, and what is not. Every server scenario that the suite knows for a revision below has to be
 * in one of the two lists, so that a new one is noticed.
 *
 * @typedef {"tasks" | "2026-07-28" | "2025-11-25"} WireName `tasks`: the extension, on 2026-07-28.
 *
 * @typedef {object} Wire
 * @property {WireName} name
 * @property {string} revision As the suite lists it.
 * @property {readonly string[]} flags Of one run that covers every scenario.
 * @property {readonly string[]} scenarios
 *
 * @typedef {object} LeftOut
 * @property {string} scenario
 * @property {readonly WireName[]} wires
 * @property {string} reason
 *
 * @typedef {object} Exception A check whose expected status is not SUCCESS.
 * @property {WireName} wire
 * @property {string} scenario
 * @property {string} check
 * @property {"FAILURE" | "WARNING" | "SKIPPED" | "INFO"} status
 * @property {string} reason
 */

const tools = [
  "tools-list",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "json-schema-2020-12",
];

/** @type {readonly Wire[]} */
export const wires = [
  {
    name: "tasks",
    revision: "extension",
    // With --spec-version the suite skips scenarios of extensions and calls that a success. This is the smallest set with all.
    flags: ["--suite", "pending"],
    scenarios: [
      "tasks-lifecycle",
      "tasks-capability-negotiation",
      "tasks-wire-fields",
      "tasks-request-state-removal",
      "tasks-mrtr-input",
      "tasks-request-headers",
      "tasks-dispatch-and-envelope",
      "tasks-status-notifications",
      "tasks-required-task-error",
      "tasks-mrtr-composition",
    ],
  },
  {
    name: "2026-07-28",
    revision: "2026-07-28",
    flags: ["--suite", "all", "--spec-version", "2026-07-28"],
    scenarios: [
      "server-stateless",
      ...tools,
      "server-sse-multiple-streams",
      "dns-rebinding-protection",
      "caching",
      "http-header-validation",
      "http-custom-header-server-validation",
      "resources-list",
      "sep-2164-resource-not-found",
      "input-required-result-basic-elicitation",
      "input-required-result-basic-sampling",
      "input-required-result-basic-list-roots",
      "input-required-result-request-state",
      "input-required-result-multiple-input-requests",
      "input-required-result-multi-round",
      "input-required-result-missing-input-response",
      "input-required-result-result-type",
      "input-required-result-unsupported-methods",
      "input-required-result-tampered-state",
      "input-required-result-capability-check",
      "input-required-result-ignore-extra-params",
      "input-required-result-validate-input",
    ],
  },
  {
    name: "2025-11-25",
    revision: "2025-11-25",
    flags: ["--suite", "all", "--spec-version", "2025-11-25"],
    scenarios: [
      "server-initialize",
      "server-session-lifecycle",
      "ping",
      ...tools,
      "tools-call-sampling",
      "tools-call-elicitation",
      "elicitation-sep1034-defaults",
      "elicitation-sep1330-enums",
      "server-sse-multiple-streams",
      "dns-rebinding-protection",
      "resources-list",
    ],
  },
];

/** @type {readonly WireName[]} */
const both = ["2026-07-28", "2025-11-25"];
/** @type {readonly WireName[]} */
const legacy = ["2025-11-25"];

/** @type {readonly Exception[]} */
export const exceptions = [
  {
    wire: "tasks",
    scenario: "tasks-status-notifications",
    check: "tasks-status-notifications",
    status: "SKIPPED",
    reason: "the suite has yet to write it for subscriptions/listen, and skips itself",
  },
  {
    wire: "2026-07-28",
    scenario: "server-stateless",
    check: "sep-2575-server-sends-prompts-list-changed-on-subscription",
    status: "SKIPPED",
    reason: "there are no prompts",
  },
  {
    wire: "2026-07-28",
    scenario: "caching",
    check: "sep-2549-prompts-list-caching-hints",
    status: "FAILURE",
    reason: "there are no prompts; the suite takes them for granted here",
  },
  {
    wire: "2026-07-28",
    scenario: "caching",
    check: "sep-2549-resources-read-caching-hints",
    status: "SKIPPED",
    reason: "results of tasks are not listed, so the suite finds no resource to read",
  },
  ...both.map((wire) => ({
    wire,
    scenario: "server-sse-multiple-streams",
    check: "server-sse-streams-functional",
    status: /** @type {const} */ ("INFO"),
    reason: "an answer without notifications is JSON, not a stream",
  })),
];

/**
 * @param {string} reason
 * @param {readonly WireName[]} wires
 * @param {readonly string[]} scenarios
 * @returns {LeftOut[]}
 */
const leaveOut = (reason, wires, scenarios) => scenarios.map((scenario) => ({ scenario, wires, reason }));

export const leftOut = [
  ...leaveOut("needs prompts; a server of tools has none", both, [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
  ]),
  ...leaveOut(
    "needs a prompt that asks; a server of tools has none",
    ["2026-07-28"],
    ["input-required-result-non-tool-request"],
  ),
  ...leaveOut("needs completion of arguments of prompts and resources", both, ["completion-complete"]),
  ...leaveOut("needs fixed resources at test:// addresses; our resources are results of tasks", both, [
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
  ]),
  ...leaveOut("results of tasks do not change, so there is nothing to subscribe to", legacy, [
    "resources-subscribe",
    "resources-unsubscribe",
  ]),
  ...leaveOut("no log is sent to clients", legacy, ["logging-set-level", "tools-call-with-logging"]),
  ...leaveOut("needs streams that can be resumed; what a client misses it reads from the task", legacy, [
    "server-sse-polling",
  ]),
  ...leaveOut(
    "another extension: skills",
    ["tasks"],
    ["sep-2640-skills-directory", "sep-2640-skills-enumeration", "sep-2640-skills-manifest"],
  ),
];
