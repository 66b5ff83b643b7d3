import { type CallContext, type JsonObject, type PipelineDescription, toBridgeError } from "@taskbridge/core/adapter";
import type { Machine, SfnClient } from "../aws/client.ts";
import { listMachines } from "../machines.ts";
import type { StepFunctionsTarget } from "../settings/parse-target.ts";
import { parseInputTag } from "./parse-input-tag.ts";

type Tags = Readonly<Record<string, string>>;

interface Matcher {
  readonly prefix: string;
  readonly needsTags: boolean;
  isTagged(tags: Tags): boolean;
}

const matcherOf = (filter: string | undefined): Matcher => {
  const [, name, value] = /^tag:([^=]+)(?:=(.*))?$/.exec(filter ?? "") ?? [];
  if (name === undefined) return { prefix: filter ?? "", needsTags: false, isTagged: () => true };
  return {
    prefix: "",
    needsTags: true,
    isTagged: (tags) => tags[name] !== undefined && (value === undefined || tags[name] === value),
  };
};

type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

const maxAttempts = 10;

/** Tags are given for one machine a second in the long run: whoever discovers hundreds waits. */
const withRetry = async <Value>(work: () => Promise<Value>, signal: AbortSignal, pause: Pause): Promise<Value> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const { code, retryAfterMs = 1_000 } = toBridgeError(error);
      if (code !== "throttled" || attempt === maxAttempts) throw error;
      await pause(retryAfterMs, signal);
    }
  }
};

/** `tags`: undefined where they may not be read. */
const describe = (
  machine: Machine,
  description: string | undefined,
  given: Tags | undefined,
): PipelineDescription<StepFunctionsTarget> => {
  const tags = given ?? {};
  const tag = tags["taskbridge:input"];
  const schema = tag === undefined ? undefined : parseInputTag(tag);
  const free: JsonObject = { type: "object" };
  const note =
    schema !== undefined
      ? ""
      : given === undefined
        ? " (takes any object: its tags may not be read)"
        : tag === undefined
          ? " (takes any object: it has no tag taskbridge:input)"
          : " (takes any object: its tag taskbridge:input is not name:type name:type:optional …)";
  const text = tags["taskbridge:description"] ?? description ?? `Runs the state machine ${machine.name}.`;
  return {
    name: tags["taskbridge:name"] ?? machine.name,
    description: `${text}${note}`,
    target: { stateMachine: machine.arn },
    input: schema ?? free,
  };
};

/** The state machines of a type whose names begin with `filter`, or that have the tag `tag:NAME` or `tag:NAME=VALUE`. */
export async function* discoverMachines(
  client: SfnClient,
  type: "standard" | "express",
  filter: string | undefined,
  { signal, log }: CallContext,
  pause: Pause,
): AsyncGenerator<PipelineDescription<StepFunctionsTarget>> {
  const { prefix, needsTags, isTagged } = matcherOf(filter);
  let isDenied = false;
  const tagsOf = async (arn: string): Promise<Tags | undefined> => {
    if (isDenied) return undefined;
    try {
      return await withRetry(() => client.tags(arn, signal), signal, pause);
    } catch (error) {
      const { code, message } = toBridgeError(error);
      if (code !== "denied" || needsTags) throw error;
      isDenied = true;
      log("warn", `names, descriptions and inputs are not read from tags: ${message}`);
      return undefined;
    }
  };
  for await (const machine of listMachines(client, signal)) {
    if (machine.type.toLowerCase() !== type || !machine.name.startsWith(prefix)) continue;
    const tags = await tagsOf(machine.arn);
    if (!isTagged(tags ?? {})) continue;
    const { description } = await withRetry(() => client.machine(machine.arn, signal), signal, pause);
    yield describe(machine, description, tags);
  }
}
