import type { ToolDefinition } from "@taskbridge/core";
import { memoryStore } from "@taskbridge/core/memory";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import { type Served, type ServeOptions, serve } from "../serve.ts";
import { type Conversation, type Line, startConversation } from "./conversation.ts";
import type { Dialect } from "./validate-lines.ts";

/** What a scenario plays on. */
export interface Stage<Client> extends Pick<Served, "backend" | "server"> {
  readonly client: Client;
  readonly clock: FakeClock;
  /** Lets the server take in what has happened at the backend. */
  settle(): Promise<void>;
}

export interface Scenario<Client> {
  /** Names the transcript. */
  readonly name: string;
  /** Of the server. */
  readonly options?: Omit<ServeOptions, "store" | "clock">;
  play(stage: Stage<Client>): Promise<void>;
}

/** A pipeline on the fake backend, whose target runs the script of the same name. */
export const fakeTool = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  adapter: "fake",
  target: { run: name },
  ...more,
});

/** One wire: its scenarios, who speaks it, and what its messages have to fit. */
export interface GoldenWire {
  /** Names the folder of its transcripts. */
  readonly name: string;
  readonly dialect: Dialect;
  readonly scenarios: readonly { readonly name: string; record(): Promise<readonly Line[]> }[];
}

export const goldenWire = <Client>(wire: {
  readonly name: string;
  readonly dialect: Dialect;
  readonly open: (conversation: Conversation, url: string) => Client;
  readonly scenarios: readonly Scenario<Client>[];
}): GoldenWire => ({
  name: wire.name,
  dialect: wire.dialect,
  scenarios: wire.scenarios.map((scenario) => ({
    name: scenario.name,
    record: () => record(scenario, wire.open),
  })),
});

/** Plays a scenario over HTTP, on a clock that stands still unless the scenario moves it. */
const record = async <Client>(
  { options, play }: Scenario<Client>,
  open: (conversation: Conversation, url: string) => Client,
): Promise<readonly Line[]> => {
  const clock = fakeClock();
  const { fake, ...rest } = options ?? {};
  const { url, ...served } = await serve({ ...rest, store: memoryStore({ clock }), clock, fake: { ...fake, clock } });
  const conversation = startConversation();
  const { backend, server } = served;
  const settle = async (): Promise<void> => {
    await clock.settle();
    await backend.events.settled();
    await clock.settle();
  };
  await play({ backend, server, client: open(conversation, url), clock, settle });
  conversation.end();
  return conversation.lines;
};
