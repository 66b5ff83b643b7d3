import { type BridgeError, type CheckFinding, isTemplate, toBridgeError } from "@taskbridge/core/adapter";
import type { GcwClient } from "../google/client.ts";
import type { Prompts } from "../settings/parse-prompts.ts";
import { type CloudWorkflowsTarget, type Parent, parentOf, workflowNameOf } from "../settings/parse-target.ts";
import { checkQuestions } from "./check-questions.ts";

/** No execution has this ID, so that nothing happens to any. */
const nobody = "00000000-0000-0000-0000-000000000000";

type Call = () => Promise<unknown>;

/** Why a call about nothing is refused: that there is nothing, or that it is in no state for it, means that the call is allowed. */
const refusalOf = async (call: Call): Promise<BridgeError | undefined> => {
  try {
    await call();
    return undefined;
  } catch (error) {
    const known = toBridgeError(error);
    return ["not_found", "conflict", "invalid_input"].includes(known.code) ? undefined : known;
  }
};

/** What an operator may leave out of a role, and what is lost with it. */
const lostWith = async (path: string, call: Call, lost: string): Promise<readonly CheckFinding[]> => {
  const refusal = await refusalOf(call);
  // A local engine may not know a call at all.
  return refusal?.code === "denied" ? [{ level: "warning", path, message: `${refusal.message}: ${lost}` }] : [];
};

/** Whether the workflow is there; undefined where that is not allowed to be seen. */
const checkState = async (
  client: GcwClient,
  workflow: string,
  path: string,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  try {
    const { state } = await client.workflow(workflow, signal);
    if (state === "ACTIVE" || state === "") return [];
    return [{ level: "error", path, message: `the workflow is ${state}: it cannot be run at present` }];
  } catch (error) {
    const { code, message } = toBridgeError(error);
    if (code === "not_found") return [{ level: "error", path, message: `there is no workflow ${workflow}` }];
    if (code === "denied") return [{ level: "warning", path, message: `${message}: whether it is there is not seen` }];
    throw error;
  }
};

const checkWorkflow = async (
  client: GcwClient,
  workflow: string,
  path: string,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const state = await checkState(client, workflow, path, signal);
  if (state.some(({ level }) => level === "error")) return state;
  const execution = `${workflow}/executions/${nobody}`;
  const refusals = await Promise.all(
    [() => client.get(execution, signal), () => client.list(workflow, { view: "BASIC", size: 1 }, signal)].map(
      refusalOf,
    ),
  );
  const refused = refusals.flatMap((refusal) => refusal ?? []);
  // Without these no task comes to an end.
  if (refused.length > 0) return refused.map(({ message }): CheckFinding => ({ level: "error", path, message }));
  const without = await Promise.all([
    lostWith(path, () => client.cancel(execution, signal), "tasks cannot be cancelled"),
    lostWith(path, () => client.callbacks(execution, signal), "questions are not seen"),
    lostWith(path, () => client.stepsInProgress(execution, signal), "steps of parallel branches are not told apart"),
    lostWith(
      path,
      () => client.deliver(execution, nobody, { method: "POST", body: "{}" }, signal),
      "questions cannot be answered",
    ),
  ]);
  const name = workflow.split("/").at(-1);
  return [
    ...state,
    ...without.flat(),
    { level: "ok", path, message: `${name}; workflows.executions.create is not tried` },
  ];
};

/** The option that an error is about, which its message names then. */
const pathOf = (error: unknown): string => {
  const path = toBridgeError(error).data?.path;
  return typeof path === "string" ? path : "";
};

/** Whether Google and these workflows can be used, and whether `questions` are about steps that there are. */
export const checkWorkflows = async (
  client: GcwClient,
  { questions, ...parent }: Parent & { readonly questions: Prompts },
  targets: readonly CloudWorkflowsTarget[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const failed = (error: unknown, path: string): CheckFinding => {
    if (signal.aborted) throw error;
    const { code, message: reason } = toBridgeError(error);
    const message = path !== "" && reason.startsWith(`${path}: `) ? reason.slice(path.length + 2) : reason;
    return { level: "error", path, message, ...(code === "misconfigured" ? { code } : {}) };
  };
  try {
    await client.workflows(parentOf(parent), { size: 1 }, signal);
  } catch (error) {
    const { code } = toBridgeError(error);
    if (code === "not_found")
      return [
        { level: "error", path: "location", message: `there is no ${parentOf(parent)} (\`project\`, \`location\`)` },
      ];
    // To list them is not needed.
    if (code !== "denied") return [failed(error, pathOf(error))];
  }
  const findings = targets.map(async (target, index): Promise<readonly CheckFinding[]> => {
    const path = `targets[${index}].workflow`;
    if (isTemplate(target.workflow))
      return [{ level: "warning", path, message: "depends on the input, so it cannot be checked" }];
    try {
      return await checkWorkflow(client, workflowNameOf(target, parent), path, signal);
    } catch (error) {
      return [failed(error, path)];
    }
  });
  return (await Promise.all([...findings, checkQuestions(client, parent, questions, targets, signal)])).flat();
};
