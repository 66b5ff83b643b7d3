import { hideSecrets } from "../hide-secrets.ts";
import type { FoundPipeline } from "./list-pipelines.ts";

/** A pipeline of the named adapter. */
export interface AdapterPipeline extends FoundPipeline {
  readonly adapter: string;
}

/** An entry of `tools` as it is written in a configuration; `configuredAs` names the tool that is this already. */
export interface DiscoveredTool {
  readonly adapter: string;
  readonly name: string;
  readonly description?: string;
  readonly target: unknown;
  readonly input?: unknown;
  readonly configuredAs?: string;
}

/** Entries whose names are no tool's of the configuration, and no other entry's, but for those that are tools already. */
export const toToolEntries = (
  pipelines: readonly AdapterPipeline[],
  configuredNames: readonly string[],
): DiscoveredTool[] => {
  const chooseName = nameChooser(configuredNames);
  return pipelines.map(({ adapter, name, description, target, input, configuredAs }) => ({
    adapter,
    name: configuredAs === undefined ? chooseName(toToolName(name)) : toToolName(name),
    ...(description === undefined ? {} : { description: asConfigText(description) }),
    target: asConfigValue(target),
    ...(input === undefined ? {} : { input: asConfigValue(input) }),
    ...(configuredAs === undefined ? {} : { configuredAs }),
  }));
};

const maxName = 128;

/** Backends allow more in a name than a configuration does: `video/transcode` becomes `video_transcode`. */
const toToolName = (name: string): string => {
  const text = hideSecrets(name)
    .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
    .slice(0, maxName);
  return /[A-Za-z0-9]/.test(text) ? text : "pipeline";
};

/** The second `nightly` becomes `nightly_2`. */
const nameChooser = (taken: readonly string[]): ((name: string) => string) => {
  const used = new Set(taken);
  const nextCount = new Map<string, number>();
  return (wanted) => {
    let name = wanted;
    let count = nextCount.get(wanted) ?? 2;
    for (; used.has(name); count += 1) {
      const suffix = `_${count}`;
      name = wanted.slice(0, maxName - suffix.length) + suffix;
    }
    nextCount.set(wanted, count);
    used.add(name);
    return name;
  };
};

/** What stands for a secret works as it is when it is pasted; another `${` would be taken for a reference. */
const asConfigText = (text: string): string => {
  const hidden = hideSecrets(text);
  return hidden === text ? text.replaceAll("${", () => "$${") : hidden;
};

const asConfigValue = (value: unknown): unknown => {
  if (typeof value === "string") return asConfigText(value);
  if (Array.isArray(value)) return value.map(asConfigValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, asConfigValue(member)]));
};
