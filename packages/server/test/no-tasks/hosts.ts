import { memoryStore } from "@taskbridge/core/memory";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import { type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import type { Answer, RequestOptions } from "../rpc-client.ts";
import { eventually, type Served, type ServeOptions, serve } from "../serve.ts";

/** A host that knows no tasks, of either era. */
export interface Host extends Served {
  list(): Promise<readonly ListedTool[]>;
  call(name: string, args?: Record<string, unknown>, more?: Record<string, unknown>): Promise<Answer>;
}

export interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
  readonly annotations?: Record<string, unknown>;
  readonly execution?: Record<string, unknown>;
}

export interface HostOptions extends ServeOptions {
  readonly capabilities?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

export const eras = ["2026-07-28", "2025-11-25"] as const;

export const openHost = async (era: (typeof eras)[number], options: HostOptions = {}): Promise<Host> => {
  const { capabilities, headers, ...more } = options;
  return joinHost(era, await serve(more), {
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(headers === undefined ? {} : { headers }),
  });
};

/** Another host of the same server. */
export const joinHost = async (
  era: (typeof eras)[number],
  served: Served,
  options: Pick<HostOptions, "capabilities" | "headers"> = {},
): Promise<Host> => {
  if (era === "2025-11-25") {
    const session: Rpc2025 = await rpc2025(served.url, options);
    return {
      ...served,
      list: async () => toTools(await session.request("tools/list")),
      call: (name, args = {}, params = {}) => session.request("tools/call", { name, arguments: args, ...params }),
    };
  }
  const noTasks: RequestOptions = { tasks: false, ...options };
  return {
    ...served,
    list: async () => toTools(await served.rpc("tools/list", {}, noTasks)),
    call: (name, args = {}, params = {}) => served.rpc("tools/call", { name, arguments: args, ...params }, noTasks),
  };
};

const toTools = ({ result }: Answer): readonly ListedTool[] => result.tools as readonly ListedTool[];

/** What a model reads of an answer. */
export const textOf = ({ result }: Pick<Answer, "result">): string =>
  ((result.content ?? []) as readonly { readonly text?: string }[]).flatMap(({ text = [] }) => text).join("\n");

/** The ID in a handle. */
export const handleOf = ({ result }: Pick<Answer, "result">): string => {
  const { taskId } = (result.structuredContent ?? {}) as { taskId?: unknown };
  if (typeof taskId !== "string") throw new Error(`no handle: ${JSON.stringify(result)}`);
  return taskId;
};

/** Options of a server on a clock that stands still. */
export const onClock = (options: ServeOptions = {}): { readonly clock: FakeClock; readonly options: ServeOptions } => {
  const clock = fakeClock();
  const store = memoryStore({ clock });
  return { clock, options: { waitMs: 0, ...options, clock, store, fake: { ...options.fake, clock } } };
};

/** Moves the clock on until it is answered. */
export const endOf = async <Value>(clock: FakeClock, work: Promise<Value>): Promise<Value> => {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  await eventually(async () => {
    await clock.advance(1_000);
    return isOver;
  });
  return over;
};
