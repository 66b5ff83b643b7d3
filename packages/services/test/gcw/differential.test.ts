import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { findWorkflowsEmulator } from "../../src/find-workflows-emulator.ts";
import { type GcwServer, startGcw } from "../../src/gcw/server.ts";
import { argument, workflows } from "./differential-workflows.ts";
import { gcwApi } from "./gcw-api.ts";

/** A result, or the error with which a workflow failed. */
type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Why the two differ. Ours does as Google documents it. */
const differences: Readonly<Record<string, string>> = {
  "makes the maps on the way to a member": "the emulator fails at a member of a member that is missing",
  "joins a text and a number": "the emulator joins texts only; documented: + with a text makes a text",
  "leaves a text around an expression alone":
    "the emulator fills in expressions inside a text; documented: an expression is the whole value",
  "writes a boolean as a text": "the emulator knows True and False in expressions only",
  "keeps a zero in the place of a default": "the emulator takes 0 for missing; documented: only null is",
  "chooses by if": "the emulator has no if in expressions",
  "finds texts by a regular expression": "the emulator gives indexes; documented: maps with index and match",
  "merges maps": "the emulator loses nested members of the second map that the first lacks",
  "encodes and decodes JSON": "the emulator ends an expression at the first }, also inside a text",
  "fails by a key that is not there": "the emulator raises a SyntaxError, which is no documented tag",
  "retries as often as its own predicate lets it": "the emulator gives up once its delay has reached max_delay",
};

/** What both must agree on: of an error that an engine raises itself, its tags. */
const essence = (outcome: Outcome): Outcome => {
  if (!("error" in outcome)) return outcome;
  const { error } = outcome;
  const isTagged = typeof error === "object" && error !== null && "tags" in error;
  return isTagged ? { error: { tags: error.tags } } : outcome;
};

const inEmulator = async (python: string): Promise<readonly Outcome[]> => {
  const script = fileURLToPath(new URL("../fixtures/run-workflows.py", import.meta.url));
  const child = spawn(python, [script], { stdio: ["pipe", "pipe", "inherit"], timeout: 40_000 });
  child.stdin.end(
    JSON.stringify(Object.values(workflows).map((source) => ({ source, argument: JSON.parse(argument) }))),
  );
  return JSON.parse(await text(child.stdout)) as readonly Outcome[];
};

const inOurs = async ({ url }: GcwServer): Promise<readonly Outcome[]> => {
  const api = gcwApi(url);
  const run = async (source: string, index: number): Promise<Outcome> => {
    expect((await api.deploy(`workflow-${index}`, source)).body).toMatchObject({ done: true });
    const ended = await api.ended(await api.start(`workflow-${index}`, JSON.parse(argument)));
    if (ended.state === "SUCCEEDED") return { result: JSON.parse(String(ended.result)) };
    return { error: JSON.parse((ended.error as { payload: string }).payload) };
  };
  return Promise.all(Object.values(workflows).map(run));
};

const engine = await findWorkflowsEmulator();
const why = engine.kind === "missing" ? engine.reason : undefined;

const suite = engine.kind === "missing" ? describe.skip : describe;
suite(`workflows here and in workflows-emulator${why === undefined ? "" : ` (SKIPPED: ${why})`}`, () => {
  let ours: readonly Outcome[];
  let theirs: readonly Outcome[];
  beforeAll(async () => {
    const server = await startGcw();
    try {
      theirs = await inEmulator(engine.kind === "python" ? engine.path : "");
      ours = await inOurs(server);
    } finally {
      await server.close();
    }
  }, 60_000);

  const names = Object.keys(workflows);
  it("are at least forty", () => expect(names.length).toBeGreaterThanOrEqual(40));

  it.each(names.filter((name) => !(name in differences)))("agree: %s", (name) => {
    const index = names.indexOf(name);
    expect(essence(ours[index] as Outcome)).toEqual(essence(theirs[index] as Outcome));
  });

  it.each(Object.entries(differences))("differ: %s, because %s", (name) => {
    const index = names.indexOf(name);
    expect(index).toBeGreaterThanOrEqual(0);
    expect(essence(ours[index] as Outcome)).not.toEqual(essence(theirs[index] as Outcome));
  });
});

if (why !== undefined && process.env.TASKBRIDGE_REQUIRE_ENGINES === "1") {
  it("has a workflows-emulator to compare with", () => {
    throw new Error(why);
  });
}
