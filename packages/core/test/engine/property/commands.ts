import fc from "fast-check";
import { type Fault, faults, faultyVerbs, type Setup } from "./backend.ts";

export const tools = ["plain", "plain", "restart", "fold", "short"] as const;
export const owners = ["ann", "bob"] as const;
export const moves = [
  "run",
  "progress",
  "ask",
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
      /** The ID that the client mints. Of few, so that they come again, for both owners. */
      readonly mint?: string;
    }
  | { readonly do: "create and hang up"; readonly tool: (typeof tools)[number] }
  | { readonly do: "read" | "read as another" | "wait" | "follow" | "delete"; readonly task: number }
  | { readonly do: "cancel" | "cancel and latch"; readonly task: number }
  | { readonly do: "answer"; readonly task: number; readonly action: "accept" | "accept" | "decline" | "cancel" }
  | {
      readonly do: "claim" | "claim together" | "release";
      readonly task: number;
      readonly holder: number;
      readonly forMs: number;
    }
  | { readonly do: "list"; readonly owner: (typeof owners)[number] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "kill and restart" | "close and restart" | "pause" | "resume"; readonly process: number }
  | { readonly do: "spawn" | "hold news" | "release news" | "obey cancels" }
  /** The next start arrives, and the one after that, perhaps the same sent again, is refused. */
  | { readonly do: "refuse what was accepted" }
  | { readonly do: "fault"; readonly verb: (typeof faultyVerbs)[number]; readonly fault: Fault }
  | { readonly do: "move"; readonly execution: number; readonly move: (typeof moves)[number] }
  | { readonly do: "repeat news" | "call webhook"; readonly event: number }
  /** Of an execution elsewhere that has the name of a task's own. */
  | { readonly do: "call webhook of a namesake"; readonly task: number };

/** Something happens, and then at most so many waiting calls go on; `all`: until everything rests. */
export type Command = Act & { readonly steps: number | "all" };

export interface Scenario {
  readonly setup: Setup;
  /** Decides the order in which waiting calls go on. 0: first come, first served. */
  readonly schedule: number;
  readonly commands: readonly Command[];
}

const index = fc.nat({ max: 3 });

const create: fc.Arbitrary<Act> = fc.record({
  do: fc.constant("create" as const),
  tool: fc.constantFrom(...tools),
  owner: fc.constantFrom("ann", "ann", "bob"),
  input: fc.nat({ max: 1 }),
});
const createMinted = fc.record({
  do: fc.constant("create" as const),
  tool: fc.constantFrom(...tools),
  owner: fc.constantFrom("ann", "ann", "bob"),
  input: fc.nat({ max: 1 }),
  mint: fc.constantFrom("c1", "c1", "c2"),
});
const createAndHangUp = fc.record({ do: fc.constant("create and hang up" as const), tool: fc.constantFrom(...tools) });
const useTask = fc.record({
  do: fc.constantFrom("read", "read", "wait", "wait", "follow", "follow", "read as another", "delete"),
  task: index,
});
const cancel = fc.record({ do: fc.constantFrom("cancel", "cancel and latch"), task: index });
const answer = fc.record({
  do: fc.constant("answer" as const),
  task: index,
  action: fc.constantFrom("accept", "accept", "decline", "cancel"),
});
const claim = fc.record({
  do: fc.constantFrom("claim", "claim together", "release"),
  task: index,
  holder: fc.nat({ max: 2 }),
  forMs: fc.constantFrom(500, 5_000, 20_000),
});
const list = fc.record({ do: fc.constant("list" as const), owner: fc.constantFrom(...owners) });
const advance = fc.record({
  do: fc.constant("advance" as const),
  ms: fc.constantFrom(1, 500, 1_100, 2_100, 3_100, 6_000, 11_000, 25_000, 45_000),
});
const manageServer = fc.record({
  do: fc.constantFrom("kill and restart", "kill and restart", "close and restart", "pause", "pause", "resume"),
  process: index,
});
const rest = fc.record({ do: fc.constantFrom("spawn", "hold news", "release news", "obey cancels") });
const refuseAccepted = fc.record({ do: fc.constant("refuse what was accepted" as const) });
const strike = fc.record({
  do: fc.constant("fault" as const),
  verb: fc.constantFrom(...faultyVerbs),
  fault: fc.constantFrom(...faults),
});
const move = fc.record({ do: fc.constant("move" as const), execution: index, move: fc.constantFrom(...moves) });
const repeatUpdate = fc.record({ do: fc.constantFrom("repeat news", "call webhook"), event: fc.nat({ max: 9 }) });
const namesake = fc.record({ do: fc.constant("call webhook of a namesake" as const), task: index });

const weighted = (weight: number, arbitrary: fc.Arbitrary<unknown>): fc.WeightedArbitrary<Act> => ({
  weight,
  arbitrary: arbitrary as fc.Arbitrary<Act>,
});

const act: fc.Arbitrary<Act> = fc.oneof(
  weighted(3, create),
  weighted(2, createMinted),
  weighted(1, createAndHangUp),
  weighted(7, useTask),
  weighted(2, cancel),
  weighted(5, answer),
  weighted(3, claim),
  weighted(1, list),
  weighted(8, advance),
  weighted(4, manageServer),
  weighted(2, rest),
  weighted(6, strike),
  weighted(1, refuseAccepted),
  weighted(9, move),
  weighted(1, repeatUpdate),
  weighted(1, namesake),
);

const commands = (what: fc.Arbitrary<Act>, limit: number): fc.Arbitrary<readonly Command[]> => {
  const steps = fc.oneof(
    { weight: 3, arbitrary: fc.constant("all" as const) },
    { weight: 2, arbitrary: fc.nat({ max: 12 }) },
  );
  const command = fc.tuple(what, steps).map(([made, count]): Command => ({ ...made, steps: count }));
  // Of any length alike: left to itself, the arbitrary prefers the short.
  return fc.noBias(fc.array(command, { maxLength: limit, size: "max" }));
};

const setup: fc.Arbitrary<Setup> = fc
  .record({
    start: fc.constantFrom("idempotent", "idempotent for a while", "findable", "at-most-once"),
    cancel: fc.constantFrom("confirmed", "requested", "none"),
    inspect: fc.constantFrom(true, true, true, false),
    watch: fc.boolean(),
    find: fc.boolean(),
    startsAs: fc.constantFrom("running", "queued"),
    evolvingRefs: fc.boolean(),
    startReportsState: fc.boolean(),
    hidesDetail: fc.boolean(),
  })
  // What a ref has become only a look can tell.
  .map(
    (made) =>
      ({ ...made, watch: made.watch || !made.inspect, evolvingRefs: made.evolvingRefs && made.inspect }) as Setup,
  );

/** Mostly about twenty commands. In parts, so that short ones are rare and shrinking can still take each out. */
export const scenarios = (): fc.Arbitrary<Scenario> =>
  fc.record({
    setup,
    schedule: fc.nat(),
    commands: fc
      .tuple(commands(create, 3), commands(act, 12), commands(act, 12), commands(act, 12))
      .map((parts) => parts.flat()),
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
