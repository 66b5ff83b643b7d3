import {
  type BridgeError,
  type CheckFinding,
  isTemplate,
  misconfigured,
  toBridgeError,
} from "@taskbridge/core/adapter";
import type { SfnClient } from "../aws/client.ts";
import type { QueueClient } from "../events/queue-client.ts";
import type { Machines } from "../machines.ts";
import { executionArnOf } from "../mapping/execution-arn.ts";
import { qualifiedArn, regionOf, type StepFunctionsTarget } from "../settings/parse-target.ts";
import { isSaying } from "../starts/find-started.ts";
import { toMissing } from "../starts/to-missing.ts";

interface Checked {
  readonly client: SfnClient;
  readonly machines: Machines;
  readonly queue: QueueClient | undefined;
  readonly type: "standard" | "express";
}

/** No execution has this name, so that nothing happens to any. */
const nobody = "mcp-nobody";

/** As IDs of Map Runs look. */
const nobodyId = "00000000-0000-0000-0000-000000000000";

const first: { readonly size: number } = { size: 1 };

type Call = () => Promise<unknown>;

/** Why a call about nothing is refused: that there is nothing means that the call is allowed. */
const refusalOf = async (call: Call): Promise<BridgeError | undefined> => {
  try {
    await call();
    return undefined;
  } catch (error) {
    const known = toBridgeError(error);
    const isAboutNothing = known.code === "not_found" && !isSaying(known, "StateMachineDoesNotExist");
    return isAboutNothing || known.code === "conflict" ? undefined : known;
  }
};

/** Without these no task comes to an end. */
const requiredFindings = async (path: string, calls: readonly Call[]): Promise<readonly CheckFinding[]> => {
  const refusals = await Promise.all(calls.map(refusalOf));
  return refusals.flatMap((refusal) => refusal ?? []).map(({ message }) => ({ level: "error", path, message }));
};

/** What an operator may leave out, and what is lost with it. */
const optionalFindings = async (
  path: string,
  calls: readonly (readonly [call: Call, lost: string])[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const denied: CheckFinding[] = [];
  const unanswered: CheckFinding[] = [];
  const ask = async ([call, lost]: readonly [call: Call, lost: string]): Promise<void> => {
    const refusal = await refusalOf(call);
    // A local engine may not know a call at all.
    if (refusal?.code === "denied") denied.push({ level: "warning", path, message: `${refusal.message}: ${lost}` });
    else if (refusal !== undefined && signal.aborted)
      unanswered.push({ level: "warning", path, message: refusal.message });
  };
  await Promise.all(calls.map(ask));
  return [...denied, ...unanswered.slice(0, 1)];
};

/** One call for all who ask. */
const shared = (call: Call): Call => {
  let made: Promise<unknown> | undefined;
  return () => {
    made ??= call();
    return made;
  };
};

const fault = { error: "Taskbridge.Check", cause: "a check" };

type Probes = readonly (readonly [call: Call, lost: string])[];

/** A token says of no machine that it is its own, so that one answer goes for all. */
const answerProbes = ({ client }: Checked, signal: AbortSignal): Probes => [
  [shared(() => client.succeedTask(nobody, "{}", signal)), "questions cannot be answered"],
  [shared(() => client.failTask(nobody, fault, signal)), "questions cannot be declined"],
  [shared(() => client.keepTask(nobody, signal)), "states with HeartbeatSeconds fail while their question is open"],
];

const checkMachine = async (
  { client, machines, type }: Checked,
  target: StepFunctionsTarget,
  path: string,
  region: string,
  answers: Probes,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const itsRegion = regionOf(target.stateMachine) ?? region;
  if (itsRegion !== region)
    throw misconfigured("stateMachine", `is in ${itsRegion}, and this adapter calls ${region} (\`region\`)`);
  const machine = await machines.resolve(target.stateMachine, signal);
  const { arn } = machine;
  const named = `${machine.name}, ${machine.type}, in ${region}`;
  const qualified = qualifiedArn(arn, target);
  const asMissing = (error: unknown): never => {
    throw toMissing(error, target);
  };
  // Starting cannot be tried without starting.
  if (type === "express") {
    // AWS describes versions, but no aliases.
    const isVersion = target.version !== undefined;
    const calls = isVersion ? [() => client.machine(qualified, signal).catch(asMissing)] : [];
    const missing = await requiredFindings(path, calls);
    if (missing.length > 0) return missing;
    return [{ level: "ok", path, message: `${named}; states:StartSyncExecution is not tried` }];
  }
  const execution = executionArnOf(arn, nobody);
  const refused = await requiredFindings(path, [
    () => client.describe(execution, signal),
    () => client.listRunning(qualified, first, signal).catch(asMissing),
  ]);
  if (refused.length > 0) return refused;
  const mapRun = `${arn.replace(":stateMachine:", ":mapRun:")}/${nobody}:${nobodyId}`;
  const probes: Probes = [
    [() => client.stop(execution, fault, signal), "tasks cannot be cancelled"],
    [() => client.history(execution, first, signal), "questions and progress are not seen"],
    [() => client.mapRun(mapRun, signal), "items of a distributed Map are not counted"],
    ...answers,
  ];
  const without = await optionalFindings(path, probes, signal);
  return [...without, { level: "ok", path, message: `${named}; states:StartExecution is not tried` }];
};

/**
 * Whether AWS and these machines can be used. Once the signal fires, each target tells what was found of it, or which call AWS has not
 * answered.
 */
export const checkMachines = async (
  checked: Checked,
  targets: readonly StepFunctionsTarget[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const failed = (error: unknown, path: string): CheckFinding => {
    const { code, message } = toBridgeError(error);
    // The path says so already.
    const problem = message.replace(/^stateMachine: /, "");
    return { level: "error", path, message: problem, ...(code === "misconfigured" ? { code } : {}) };
  };
  let region: string;
  try {
    region = await checked.client.region(signal);
  } catch (error) {
    return [failed(error, "region")];
  }
  const answers = answerProbes(checked, signal);
  const ofTargets = targets.map(async (target, index): Promise<readonly CheckFinding[]> => {
    const path = `targets[${index}].stateMachine`;
    if (Object.values(target).some(isTemplate))
      return [{ level: "warning", path, message: "depends on the input, so it cannot be checked" }];
    try {
      return await checkMachine(checked, target, path, region, answers, signal);
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
