import { type CheckFinding, isTemplate, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient } from "../google/client.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { type CloudWorkflowsTarget, type Parent, workflowNameOf } from "../settings/parse-target.ts";

/** Whatever stands before a colon, in YAML or JSON: the names of steps and routines are among it, in comments and texts too. */
const keysOf = (source: string): ReadonlySet<string> =>
  new Set([...source.matchAll(/(?<![\w-])([\w-]+)["']?\s*:/g)].map(([, key = ""]) => key));

/** Steps outside of `main` have their routine's name before theirs. */
const partsOf = (step: string): readonly string[] => step.split(".").filter((part) => part !== "main");

const stepFindings = (workflow: string, steps: readonly string[], source: string): readonly CheckFinding[] => {
  const keys = keysOf(source);
  return steps
    .filter((step) => !partsOf(step).every((part) => keys.has(part)))
    .map((step) => ({
      level: "warning",
      path: `questions.${workflow}.${step}`,
      message: "the workflow has no such step (`step`, or `routine.step` outside of `main`): this is never asked",
    }));
};

/** Whether the workflows and steps of the option `questions` are any. What is wrong with the workflows themselves is not told here. */
export const checkQuestions = async (
  client: GcwClient,
  parent: Parent,
  questions: Prompts,
  targets: readonly CloudWorkflowsTarget[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const findings = Object.entries(questions).map(async ([workflow, steps]): Promise<readonly CheckFinding[]> => {
    if (!targets.some((target) => target.workflow === workflow || isTemplate(target.workflow)))
      return [{ level: "warning", path: `questions.${workflow}`, message: "no tool runs this workflow" }];
    try {
      const { source } = await client.workflow(workflowNameOf({ workflow }, parent), signal);
      return source === "" ? [] : stepFindings(workflow, Object.keys(steps), source);
    } catch (error) {
      if (signal.aborted) throw error;
      const isMissing = toBridgeError(error).code === "not_found";
      const isKnown = targets.some((target) => target.workflow === workflow);
      if (!isMissing || isKnown) return [];
      return [{ level: "warning", path: `questions.${workflow}`, message: "there is no such workflow" }];
    }
  });
  return (await Promise.all(findings)).flat();
};
