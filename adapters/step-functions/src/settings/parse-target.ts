import { isObject, isTemplate, misconfigured, refuseOtherMembers, showValue } from "@taskbridge/core/adapter";

/** The state machine of a tool. Frozen into each task, so that it is JSON and always has the same form. */
export interface StepFunctionsTarget {
  /** Its ARN without version or alias, or its name in the adapter's account and region. May hold `{{input.x}}`. */
  readonly stateMachine: string;
  /** A published version's number. */
  readonly version?: string;
  /** An alias. */
  readonly alias?: string;
}

const machineArn = /^(arn:[\w-]+:states:([\w-]+):\d{12}:stateMachine:[^\s:]+)(?::([^\s:]+))?$/;
const machineName = /^[\w+!@.()=/'-]{1,80}$/;

/** The region of a machine's ARN; undefined for a name. */
export const regionOf = (stateMachine: string): string | undefined => machineArn.exec(stateMachine)?.[2];

/** Undefined for a name, which must be looked up. */
export const isMachineArn = (stateMachine: string): boolean => machineArn.test(stateMachine);

/** What is started: with version or alias behind it. */
export const qualifiedArn = (arn: string, { version, alias }: StepFunctionsTarget): string =>
  [arn, version ?? alias].filter((part) => part !== undefined).join(":");

const parseMachine = (value: unknown, region: string | undefined) => {
  if (typeof value !== "string")
    throw misconfigured("stateMachine", `must be an ARN or a name, got ${showValue(value)}`);
  if (isTemplate(value)) return { stateMachine: value, qualifier: undefined };
  const [, arn, itsRegion, qualifier] = machineArn.exec(value) ?? [];
  if (arn === undefined) {
    if (machineName.test(value) && !value.startsWith("arn:")) return { stateMachine: value, qualifier: undefined };
    throw misconfigured("stateMachine", `must be arn:aws:states:…:stateMachine:… or a name, got ${showValue(value)}`);
  }
  if (region !== undefined && itsRegion !== region)
    throw misconfigured("stateMachine", `is in ${itsRegion}, and this adapter calls ${region} (\`region\`)`);
  return { stateMachine: arn, qualifier };
};

const isVersion = (text: string): boolean => /^[1-9]\d*$/.test(text);

const parseQualifiers = ({ version, alias }: Readonly<Record<string, unknown>>, ofArn: string | undefined) => {
  if ([version, alias, ofArn].filter((given) => given !== undefined).length > 1)
    throw misconfigured(alias === undefined ? "version" : "alias", "a version or an alias, once");
  if (ofArn !== undefined) return isVersion(ofArn) ? { version: ofArn } : { alias: ofArn };
  if (version !== undefined) {
    const text = typeof version === "number" ? String(version) : version;
    if (typeof text === "string" && (isVersion(text) || isTemplate(text))) return { version: text };
    throw misconfigured("version", `must be a version's number, got ${showValue(version)}`);
  }
  if (alias === undefined) return {};
  if (typeof alias === "string" && (/^[\w-]{1,80}$/.test(alias) || isTemplate(alias))) return { alias };
  throw misconfigured("alias", `must be an alias' name, got ${showValue(alias)}`);
};

/** Checks the shape of a target. `region`: where the adapter is told to call. Throws `misconfigured` with `data.path`. */
export const parseTarget = (target: unknown, region: string | undefined): StepFunctionsTarget => {
  if (!isObject(target))
    throw misconfigured("", `must be { stateMachine, version?, alias? }, got ${showValue(target)}`);
  refuseOtherMembers(target, ["stateMachine", "version", "alias"], "", "unknown member");
  const { stateMachine, qualifier } = parseMachine(target.stateMachine, region);
  return { stateMachine, ...parseQualifiers(target, qualifier) };
};
