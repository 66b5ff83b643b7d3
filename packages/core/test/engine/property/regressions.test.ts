import { it } from "@jest/globals";
import type { Setup } from "./backend.ts";
import type { Scenario } from "./commands.ts";
import { play } from "./play.ts";

/** The plainest backend: the shrunk scenarios below say where theirs differs. */
const setup: Setup = {
  start: "idempotent",
  cancel: "confirmed",
  inspect: true,
  watch: false,
  find: false,
  startsAs: "running",
  evolvingRefs: false,
  startReportsState: false,
  hidesDetail: false,
};

/** What `property.test.ts` once found, shrunk. */
const found: readonly (readonly [string, Scenario])[] = [
  [
    "a running task is deleted",
    {
      setup,
      schedule: 0,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "delete", task: 0, steps: "all" },
      ],
    },
  ],
  [
    "an expired record goes although its backend is only heard, and its stop is all that is known",
    {
      setup: { ...setup, inspect: false, watch: true },
      schedule: 0,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "delete", task: 0, steps: "all" },
      ],
    },
  ],
  [
    "a cancel withdraws a question, with its secret, while an answer to it is read",
    {
      setup,
      schedule: 22,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "list", owner: "ann", steps: "all" },
        { do: "move", execution: 0, move: "ask", steps: 5 },
        { do: "answer", task: 0, action: "accept", steps: 3 },
        { do: "cancel", task: 0, steps: "all" },
        { do: "cancel", task: 0, steps: 0 },
        { do: "answer", task: 0, action: "accept", steps: 0 },
      ],
    },
  ],
  [
    "a send begins while the backend still knows the key, and would arrive after",
    {
      setup: { ...setup, start: "idempotent for a while" },
      schedule: 0,
      commands: [
        { do: "fault", verb: "start", fault: "lost after acceptance", steps: 0 },
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "advance", ms: 1, steps: "all" },
        { do: "cancel", task: 0, steps: "all" },
        { do: "advance", ms: 45_000, steps: 5 },
      ],
    },
  ],
  [
    "an answer is refused after its question was withdrawn",
    {
      setup,
      schedule: 1403645486,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "fault", verb: "answer", fault: "denied", steps: 0 },
        { do: "move", execution: 0, move: "ask with heartbeat", steps: "all" },
        { do: "read", task: 0, steps: "all" },
        { do: "advance", ms: 25_000, steps: 1 },
        { do: "answer", task: 0, action: "accept", steps: "all" },
      ],
    },
  ],
  [
    "a process goes on with a start that others have settled and removed",
    {
      setup: { ...setup, start: "findable" },
      schedule: 0,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: 1 },
        { do: "pause", process: 0, steps: "all" },
        { do: "advance", ms: 45_000, steps: "all" },
        { do: "advance", ms: 11_000, steps: "all" },
      ],
    },
  ],
  [
    "a restart is answered while the execution before it is stopped",
    {
      setup: { ...setup, start: "findable" },
      schedule: 1062751836,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "create and hang up", tool: "restart", steps: 3 },
        { do: "pause", process: 0, steps: "all" },
        { do: "advance", ms: 45_000, steps: 0 },
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "spawn", steps: 3 },
      ],
    },
  ],
  [
    "a process goes on copying a result that another has copied, and dies",
    {
      setup,
      schedule: 0,
      commands: [
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: "all" },
        { do: "advance", ms: 1_100, steps: "all" },
        { do: "move", execution: 0, move: "succeed with stream", steps: "all" },
        { do: "read", task: 0, steps: "all" },
        { do: "advance", ms: 1, steps: 4 },
        { do: "pause", process: 0, steps: "all" },
        { do: "advance", ms: 11_000, steps: "all" },
        { do: "resume", process: 0, steps: 1 },
        { do: "kill and restart", process: 0, steps: "all" },
      ],
    },
  ],
  [
    "a start runs out of time in one process after another has settled it",
    {
      setup,
      schedule: 0,
      commands: [
        { do: "fault", verb: "start", fault: "hangs before acceptance", steps: "all" },
        { do: "create", tool: "plain", owner: "ann", input: 0, steps: 3 },
        { do: "pause", process: 0, steps: "all" },
        { do: "advance", ms: 3_100, steps: 0 },
        { do: "advance", ms: 45_000, steps: "all" },
        { do: "advance", ms: 11_000, steps: 0 },
        { do: "advance", ms: 500, steps: "all" },
      ],
    },
  ],
];

for (const [name, scenario] of found) it(name, () => play(scenario));
