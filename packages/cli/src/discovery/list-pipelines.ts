import { isDeepStrictEqual } from "node:util";
import {
  BridgeError,
  type CallContext,
  type PipelineDescription,
  unlessAborted,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import type { ToolEntry } from "../config/config.ts";

/** A pipeline of a backend. */
export interface FoundPipeline extends PipelineDescription<unknown> {
  /** The first tool of the configuration that has this target, or else the first whose target has more members than this. */
  readonly configuredAs?: string;
}

/** What one adapter told of its pipelines. */
export interface PipelineList {
  readonly pipelines: readonly FoundPipeline[];
  /** There are more than `maxListedPipelines`. */
  readonly isCut: boolean;
  /** What ended the list before its end, unless it was the caller's signal. */
  readonly failure?: unknown;
}

export interface ListRequest {
  /** Text for the adapter: what it means is the adapter's business. */
  readonly filter?: string;
  /** The tools of the configuration that use the adapter. */
  readonly tools: readonly Pick<ToolEntry, "name" | "target">[];
  /** Ends the list, also where the adapter does not heed it. */
  readonly signal: AbortSignal;
  readonly log: CallContext["log"];
}

/** The most pipelines that are listed for one adapter. */
export const maxListedPipelines = 10_000;

/** Long enough for a backend that searches many pages for one that fits the filter (milliseconds). */
const silenceMs = 60_000;

/** An adapter that can tell its pipelines. */
export type ListingAdapter = WorkflowAdapter & Required<Pick<WorkflowAdapter, "discover">>;

/** Lists the pipelines of one backend. Never rejects: what came before a failure, a signal or the limit is kept. */
export const listPipelines = async (
  adapter: ListingAdapter,
  { filter, tools, signal: interrupted, log }: ListRequest,
): Promise<PipelineList> => {
  const pipelines: FoundPipeline[] = [];
  const silent = new AbortController();
  const silence = setTimeout(() => {
    silent.abort(new BridgeError("unavailable", `nothing came for ${silenceMs} ms`));
  }, silenceMs);
  const signal = AbortSignal.any([interrupted, silent.signal]);
  try {
    const findTool = toolFinder(adapter, tools);
    const discovered = adapter.discover(filter, { signal, now: () => Date.now(), log })[Symbol.asyncIterator]();
    for (;;) {
      // It may hang, and a generator that does cannot even be told to return.
      const { done, value } = await unlessAborted(signal, discovered.next());
      if (done === true) return { pipelines, isCut: false };
      if (pipelines.length === maxListedPipelines) {
        await unlessAborted(signal, Promise.resolve(discovered.return?.()));
        return { pipelines, isCut: true };
      }
      const configuredAs = findTool(value);
      pipelines.push(configuredAs === undefined ? value : { ...value, configuredAs });
      silence.refresh();
    }
  } catch (failure) {
    return { pipelines, isCut: false, ...(interrupted.aborted ? {} : { failure }) };
  } finally {
    clearTimeout(silence);
  }
};

/**
 * Compares targets as the adapter reads them: defaults are filled in, and the order of members is none. A tool may say more
 * than a pipeline needs (how its runs are kept, how often they are tried); one that is just the same goes before.
 */
const toolFinder = (
  adapter: WorkflowAdapter,
  tools: ListRequest["tools"],
): ((pipeline: PipelineDescription<unknown>) => string | undefined) => {
  const configured = tools.map(({ name, target }) => ({ name, target: asStored(adapter.parseTarget(target)) }));
  return ({ name, target }) => {
    const parsed = asStored(parseDiscovered(adapter, name, target));
    const discovered = discoveredMembers(target, parsed);
    const found =
      configured.find((tool) => isDeepStrictEqual(tool.target, parsed)) ??
      configured.find(
        (tool) => discovered !== undefined && isDeepStrictEqual(discoveredMembers(target, tool.target), discovered),
      );
    return found?.name;
  };
};

/** Of a target as it was read, the members that the pipeline's own names. Undefined: those are not recognisable in it. */
const discoveredMembers = (target: unknown, parsed: unknown): Readonly<Record<string, unknown>> | undefined => {
  const [named, read] = [asStored(target), parsed];
  if (!isMembers(named) || !isMembers(read)) return undefined;
  const names = Object.keys(named);
  if (names.length === 0 || !names.every((name) => Object.hasOwn(read, name))) return undefined;
  return Object.fromEntries(names.map((name) => [name, read[name]]));
};

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parseDiscovered = (adapter: WorkflowAdapter, name: string, target: unknown): unknown => {
  try {
    return adapter.parseTarget(target);
  } catch (cause) {
    // The path that it tells is one of this target, not one of the configuration.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BridgeError("bad_response", `it refuses the target of its own pipeline ${name}: ${reason}`, { cause });
  }
};

/** As it is frozen into a record: members that are undefined are not there. */
const asStored = (target: unknown): unknown => JSON.parse(JSON.stringify(target));
