import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type MotoServer, startMoto, whyNoMoto } from "../src/moto-server.ts";

const why = await whyNoMoto();
const startMs = 90_000;

type Answer = Readonly<Record<string, unknown>>;

/** One call as it is on the wire. Moto reads the service and the region from the signature and does not check it. */
const call = async (endpoint: string, action: string, input: Answer): Promise<Answer> => {
  const answer = await fetch(endpoint, {
    method: "POST",
    body: JSON.stringify(input),
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `AWSStepFunctions.${action}`,
      authorization:
        "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/states/aws4_request, SignedHeaders=host, Signature=0",
    },
  });
  return (await answer.json()) as Answer;
};

/** The state of an execution once it is no longer running; the limit is only there to end a test that fails. */
const untilItEnds = async (endpoint: string, executionArn: unknown): Promise<Answer> => {
  for (const deadline = Date.now() + 15_000; Date.now() < deadline; ) {
    const state = await call(endpoint, "DescribeExecution", { executionArn });
    if (state.status !== "RUNNING") return state;
  }
  throw new Error("the execution does not end");
};

const suite = why === undefined ? describe : describe.skip;
suite(`a moto of one's own${why === undefined ? "" : ` (SKIPPED: ${why})`}`, () => {
  let server: MotoServer;
  beforeAll(async () => {
    server = await startMoto();
  }, startMs);
  afterAll(() => server.stop());

  const machineOf = (definition: Answer): Promise<Answer> =>
    call(server.endpoint, "CreateStateMachine", {
      name: "machine",
      definition: JSON.stringify(definition),
      roleArn: "arn:aws:iam::123456789012:role/role",
    });

  it.each(["at first", "after a reset"])("runs state machines %s", async () => {
    await server.reset();
    const States = { Pass: { Type: "Pass", Result: { files: 14 }, End: true } };
    const { stateMachineArn } = await machineOf({ StartAt: "Pass", States });
    const { executionArn } = await call(server.endpoint, "StartExecution", { stateMachineArn, name: "one" });
    const { status, output } = await untilItEnds(server.endpoint, executionArn);
    expect({ status, output: JSON.parse(String(output)) }).toEqual({ status: "SUCCEEDED", output: { files: 14 } });
  });

  it("forgets at a reset", async () => {
    await machineOf({ StartAt: "Pass", States: { Pass: { Type: "Pass", End: true } } });
    await server.reset();
    expect(await call(server.endpoint, "ListStateMachines", {})).toEqual({ stateMachines: [] });
  });

  it(
    "is gone once it is stopped",
    async () => {
      const other = await startMoto();
      await other.stop();
      await other.stop();
      await expect(fetch(other.endpoint)).rejects.toThrow("fetch failed");
    },
    startMs,
  );

  it(
    "ends with the process that started it, even when that is killed",
    async () => {
      const script = `import { startMoto } from "@taskbridge/services/moto"; console.log((await startMoto()).endpoint); setInterval(() => {}, 1000)`;
      const starter = spawn(process.execPath, ["--input-type=module", "--eval", script], {
        stdio: ["ignore", "pipe", "inherit"],
        cwd: new URL("..", import.meta.url),
      });
      const [endpoint] = await once(starter.stdout, "data");
      starter.kill("SIGKILL");
      await once(starter, "close");
      for (const deadline = Date.now() + 10_000; Date.now() < deadline; ) {
        const isGone = await fetch(String(endpoint).trim()).then(
          (answer) => answer.arrayBuffer().then(() => false),
          () => true,
        );
        if (isGone) return;
      }
      throw new Error("the server is still there");
    },
    startMs,
  );
});

if (why !== undefined && process.env.TASKBRIDGE_REQUIRE_ENGINES === "1") {
  it("has a moto to test", () => {
    throw new Error(why);
  });
}
