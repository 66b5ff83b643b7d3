import fc from "fast-check";
import { type Fault, faults, faultyVerbs, type Setup } from "./engine-backend.ts";

export const tools = ["plain", "plain", "restart", "fold", "short"] as const;
export const owners = ["ann", "bob"] as const;
export const moves = [
  "run",
  "progress",
  "ask",
  "ask with schema",
  "ask with deadline",
  "ask with heartbeat",
  "withdraw",
  "succeed",
  "succeed",
  "succeed with stream",
  "fail",
  "stop",
  "vanish",
  "vanish for good",
  "reappear",
] as const;

export type Act =
  | {
      readonly do: "create";
      readonly tool: (typeof tools)[number];
      readonly owner: (typeof owners)[number];
      readonly input: number;
    }
  | { readonly do: "create and hang up"; readonly tool: (typeof tools)[number] }
  | { readonly do: "read" | "read as another" | "wait" | "follow" | "delete"; readonly task: number }
  | { readonly do: "cancel" | "cancel and latch"; readonly task: number }
  | { readonly do: "answer"; readonly task: number; readonly action: "accept" | "accept" | "decline" | "cancel" }
  | { readonly do: "list"; readonly owner: (typeof owners)[number] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "kill and restart" | "close and restart" | "pause" | "resume"; readonly process: number }
  | { readonly do: "spawn" | "hold news" | "release news" | "obey cancels" }
  | { readonly do: "fault"; readonly verb: (typeof faultyVerbs)[number]; readonly fault: Fault }
  | { readonly do: "move"; readonly execution: number; readonly move: (typeof moves)[number] }
  | { readonly do: "repeat news" | "call webhook"; readonly event: number };

/** Something happens, and then at most so many waiting calls go on; `all`: until everything rests. */
export type Command = Act & { readonly steps: number | "all" };

export interface Scenario {
  readonly setup: Setup;
  /** Decides the order in which waiting calls go on. 0: first come, first served. */
  readonly schedule: number;
  readonly commands: readonly Command[];
}

const index = fc.nat({ max: 3 });

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("create" as const),
      tool: fc.constantFrom(...tools),
      owner: fc.constantFrom("ann", "ann", "bob"),
      input: fc.nat({ max: 1 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("create and hang up" as const), tool: fc.constantFrom(...tools) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("read", "read as another", "wait", "follow", "delete"),
      task: index,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("cancel", "cancel and latch"), task: index }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("answer" as const),
      task: index,
      action: fc.constantFrom("accept", "accept", "decline", "cancel"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("list" as const), owner: fc.constantFrom(...owners) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("advance" as const),
      ms: fc.constantFrom(1, 500, 1_100, 2_100, 3_100, 6_000, 11_000, 25_000, 45_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("kill and restart", "kill and restart", "close and restart", "pause", "pause", "resume"),
      process: index,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("spawn", "hold news", "release news", "obey cancels") }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      verb: fc.constantFrom(...faultyVerbs),
      fault: fc.constantFrom(...faults),
    }),
  },
  {
    weight: 9,
    arbitrary: fc.record({ do: fc.constant("move" as const), execution: index, move: fc.constantFrom(...moves) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom("repeat news", "call webhook"), event: fc.nat({ max: 9 }) }),
  },
) as fc.Arbitrary<Act>;

const command: fc.Arbitrary<Command> = fc
  .tuple(
    act,
    fc.oneof({ weight: 3, arbitrary: fc.constant("all" as const) }, { weight: 2, arbitrary: fc.nat({ max: 12 }) }),
  )
  .map(([what, steps]) => ({ ...what, steps }));

const setup: fc.Arbitrary<Setup> = fc
  .record({
    start: fc.constantFrom("idempotent", "idempotent for a while", "findable", "at-most-once"),
    cancel: fc.constantFrom("confirmed", "requested", "none"),
    inspect: fc.constantFrom(true, true, true, false),
    watch: fc.boolean(),
    find: fc.boolean(),
    startsAs: fc.constantFrom("running", "queued"),
    evolvingRefs: fc.boolean(),
    startTellsState: fc.boolean(),
    hidesDetail: fc.boolean(),
  })
  .map((made) => ({ ...made, watch: made.watch || !made.inspect }) as Setup);

export const scenarios = (mostCommands = 24): fc.Arbitrary<Scenario> =>
  fc.record({
    setup,
    schedule: fc.nat(),
    commands: fc.array(command, { minLength: 3, maxLength: mostCommands, size: "max" }),
  });

/** A scenario as it can be pasted into a regression test. */
export const printScenario = ({ setup: made, schedule, commands }: Scenario): string =>
  [
    "{",
    `  setup: ${JSON.stringify(made)},`,
    `  schedule: ${schedule},`,
    "  commands: [",
    ...commands.map((entry) => `    ${JSON.stringify(entry)},`),
    "  ],",
    "}",
  ].join("\n");
