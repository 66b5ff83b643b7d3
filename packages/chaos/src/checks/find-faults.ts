import { checkAnswers } from "./check-answers.ts";
import { checkAttempts } from "./check-attempts.ts";
import { checkExecutions } from "./check-executions.ts";
import { checkOwners } from "./check-owners.ts";
import { checkResults } from "./check-results.ts";
import { checkSettled } from "./check-settled.ts";
import { checkStatuses } from "./check-statuses.ts";
import { checkVersions } from "./check-versions.ts";
import type { Evidence } from "./evidence.ts";

/** Everything in which a promise is not kept, one line for each. */
export const findFaults = (evidence: Evidence): readonly string[] => [
  ...new Set(
    [
      checkExecutions,
      checkStatuses,
      checkResults,
      checkAnswers,
      checkOwners,
      checkSettled,
      checkAttempts,
      checkVersions,
    ].flatMap((check) => check(evidence)),
  ),
];
