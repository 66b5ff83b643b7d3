import { invalidArn, stateMachineDoesNotExist } from "./aws-error.ts";
import type { Execution, ExecutionFacts, StartedAs } from "./execution.ts";
import type { Script } from "./script.ts";

export interface MachineOptions {
  /** Default STANDARD. */
  readonly type?: "STANDARD" | "EXPRESS";
  readonly description?: string;
  /** A JSON text of ASL, for who reads it. It is not run. */
  readonly definition?: string;
  readonly tags?: Readonly<Record<string, string>>;
  /** Numbers of its published versions. */
  readonly versions?: readonly number[];
  /** Alias to version. */
  readonly aliases?: Readonly<Record<string, number>>;
}

export interface Machine extends Required<Omit<MachineOptions, "description">> {
  readonly arn: string;
  readonly name: string;
  readonly roleArn: string;
  readonly description: string | undefined;
  readonly createdAt: number;
  readonly scriptOf: (facts: ExecutionFacts) => Script;
  /** In the order of their starts. */
  readonly executions: Execution[];
  readonly byName: Map<string, Execution>;
  status: "ACTIVE" | "DELETING";
}

const machineArn = /^arn:aws[a-z-]*:states:([a-z0-9-]+):(\d{12}):stateMachine:([^:]+)(?::([^:]+))?$/;

/** What a start or a list is about. */
export interface MachineTarget {
  readonly machine: Machine;
  readonly startedAs: StartedAs;
}

/** Finds what a plain, a version's or an alias's ARN names. */
export const resolveMachine = (machines: ReadonlyMap<string, Machine>, region: string, arn: string): MachineTarget => {
  const [, arnRegion, , name = "", qualifier] = machineArn.exec(arn) ?? [];
  if (arnRegion === undefined) throw invalidArn(toArnProblem(arn));
  if (arnRegion !== region) throw invalidArn(`Region '${arnRegion}' of '${arn}' is not the one of this endpoint`);
  const machine = machines.get(name);
  if (machine === undefined) throw stateMachineDoesNotExist(arn);
  if (qualifier === undefined) return { machine, startedAs: {} };
  const version = /^\d+$/.test(qualifier) ? Number(qualifier) : machine.aliases[qualifier];
  if (version === undefined || !machine.versions.includes(version)) throw stateMachineDoesNotExist(arn);
  const versionArn = `${machine.arn}:${version}`;
  return { machine, startedAs: versionArn === arn ? { versionArn } : { versionArn, aliasArn: arn } };
};

/** `''` where it is no ARN at all, else the kind of thing that it names. */
export const toArnProblem = (arn: string): string => {
  const [prefix, , service, , , resource] = arn.split(":");
  if (prefix !== "arn") return `Invalid ARN prefix: ${arn}`;
  return service === "states" && resource !== undefined
    ? `Resource type not valid in this context: ${resource}`
    : `Invalid ARN: ${arn}`;
};
