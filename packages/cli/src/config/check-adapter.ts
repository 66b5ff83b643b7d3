import { isBridgeError } from "@taskbridge/core";
import { type CallContext, type CheckFinding, unlessAborted, type WorkflowAdapter } from "@taskbridge/core/adapter";
import type { Config } from "./config.ts";
import { type ConfigPath, parsePath } from "./config-path.ts";
import type { Pipelines } from "./load-pipelines.ts";

/** What an adapter says of its part of a configuration. */
export interface PlacedFinding extends Omit<CheckFinding, "path"> {
  readonly location: ConfigPath;
}

/** Told that time is over, an adapter has this long to say what it has found until then (milliseconds). */
const leaveMs = 500;

/** Lets an adapter look whether its backend and the targets of its tools can be used, for at most so long (milliseconds). */
export const checkAdapter = async (
  config: Config,
  { adapters }: Pipelines,
  name: string,
  timeoutMs: number,
): Promise<readonly PlacedFinding[]> => {
  const adapter = adapters[name] as WorkflowAdapter;
  const location: ConfigPath = ["adapters", name];
  const tools = config.tools.flatMap(({ adapter: used, target }, index) => (used === name ? [{ index, target }] : []));
  if (tools.length === 0) return [{ level: "warning", location, message: "no tool uses it" }];
  if (adapter.check === undefined)
    return [{ level: "ok", location, message: `${adapter.kind}; it has no check of its own` }];
  const late = new AbortController();
  const left = new AbortController();
  // These keep the process alive, unlike `AbortSignal.timeout`.
  const timers = [setTimeout(() => late.abort(), timeoutMs), setTimeout(() => left.abort(), timeoutMs + leaveMs)];
  const { signal } = late;
  const context: CallContext = { signal, now: () => Date.now(), log: () => {} };
  try {
    const targets = tools.map(({ target }) => adapter.parseTarget(target));
    const findings = await unlessAborted(left.signal, adapter.check(targets, context));
    return findings.map(({ path, ...finding }) => ({ ...finding, location: locationOf(path, location, tools) }));
  } catch (error) {
    const message = signal.aborted ? `no answer within ${timeoutMs} ms` : textOf(error);
    return [{ level: "error", location, message }];
  } finally {
    for (const timer of timers) clearTimeout(timer);
  }
};

/** Adapters tell `targets[i]` by their place among the targets they were given. */
const locationOf = (path: string, location: ConfigPath, tools: readonly { readonly index: number }[]): ConfigPath => {
  const parts = parsePath(path);
  const [root, position, ...rest] = parts;
  const tool = root === "targets" && typeof position === "number" ? tools[position] : undefined;
  return tool === undefined ? [...location, ...parts] : ["tools", tool.index, "target", ...rest];
};

const textOf = (error: unknown): string => (isBridgeError(error) ? error.message : String(error));
