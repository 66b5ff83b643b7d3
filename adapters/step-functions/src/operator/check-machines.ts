import { type CheckFinding, toBridgeError } from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { QueueClient } from "../events/queue-client.ts";
import { listMachines, wrongTypeOf } from "../machines.ts";
import { executionArnOf } from "../mapping/execution-arn.ts";
import { isTemplate } from "../settings/is-template.ts";
import { isMachineArn, qualifiedArn, regionOf, type StepFunctionsTarget } from "../settings/parse-target.ts";

interface Checked {
  readonly client: SfnClient;
  readonly queue: QueueClient | undefined;
  readonly type: "standard" | "express";
}

/** No execution has this name, so that nothing happens to any. */
const nobody = "mcp-nobody";

const first: { readonly size: number } = { size: 1 };

/** What AWS answers to a call about nothing: that there is nothing means that the call is allowed. */
const permissionFinding = async (
  path: string,
  calls: readonly (() => Promise<unknown>)[],
): Promise<readonly CheckFinding[]> => {
  const findings = await Promise.all(
    calls.map(async (call): Promise<CheckFinding | undefined> => {
      try {
        await call();
      } catch (error) {
        const { code, message } = toBridgeError(error);
        if (code !== "not_found" && code !== "conflict") return { level: "error", path, message };
      }
      return undefined;
    }),
  );
  return findings.filter((finding) => finding !== undefined);
};

const checkMachine = async (
  { client, type }: Checked,
  target: StepFunctionsTarget,
  path: string,
  region: string,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const problem = (message: string): readonly CheckFinding[] => [{ level: "error", path, message }];
  const { stateMachine } = target;
  if ((regionOf(stateMachine) ?? region) !== region)
    return problem(`is in ${regionOf(stateMachine)}, and this adapter calls ${region} (\`region\`)`);
  let arn = stateMachine;
  if (!isMachineArn(stateMachine)) {
    for await (const machine of listMachines(client, signal)) if (machine.name === stateMachine) arn = machine.arn;
    if (!isMachineArn(arn)) return problem(`there is no state machine ${stateMachine} in this account in ${region}`);
  }
  const machine = await client.machine(arn, signal);
  const wrong = wrongTypeOf(machine, type);
  if (wrong !== undefined) return problem(wrong);
  const named = `${machine.name}, ${machine.type}, in ${region}`;
  // Starting cannot be tried without starting.
  if (type === "express") return [{ level: "ok", path, message: `${named}; states:StartSyncExecution is not tried` }];
  const execution = executionArnOf(arn, nobody);
  const refused = await permissionFinding(path, [
    () => client.describe(execution, signal),
    () => client.history(execution, first, signal),
    () => client.stop(execution, { error: "Taskbridge.Check", cause: "a check" }, signal),
    () => client.listRunning(qualifiedArn(arn, target), first, signal),
    () => client.succeedTask(nobody, "{}", signal),
    () => client.failTask(nobody, { error: "Taskbridge.Check", cause: "a check" }, signal),
  ]);
  if (refused.length > 0) return refused;
  return [{ level: "ok", path, message: `${named}; states:StartExecution is not tried` }];
};

/** Whether AWS and these machines can be used. */
export const checkMachines = async (
  checked: Checked,
  targets: readonly StepFunctionsTarget[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const failed = (error: unknown, path: string): CheckFinding => {
    if (signal.aborted) throw error;
    return { level: "error", path, message: toBridgeError(error).message };
  };
  let region: string;
  try {
    region = await checked.client.region(signal);
  } catch (error) {
    return [failed(error, "region")];
  }
  const ofTargets = targets.map(async (target, index): Promise<readonly CheckFinding[]> => {
    const path = `targets[${index}].stateMachine`;
    if (Object.values(target).some(isTemplate))
      return [{ level: "warning", path, message: "depends on the input, so it cannot be checked" }];
    try {
      return await checkMachine(checked, target, path, region, signal);
    } catch (error) {
      return [failed(error, path)];
    }
  });
  const ofQueue = checked.queue?.check(signal).then(
    (): readonly CheckFinding[] => [{ level: "ok", path: "queueUrl", message: "the queue can be reached" }],
    (error: unknown) => [failed(error, "queueUrl")],
  );
  return (await Promise.all([...ofTargets, ofQueue ?? Promise.resolve([])])).flat();
};
