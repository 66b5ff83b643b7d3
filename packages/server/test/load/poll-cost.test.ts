import { Agent } from "node:http";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "@jest/globals";
import { rawRequest } from "../http/raw-request.ts";
import { callForTask, rpcClient, toRequest, version } from "../rpc-client.ts";
import { type ServerProcess, startScript } from "../server-process.ts";

/** `npm run soak` raises it. */
const rounds = Number(process.env.TASKBRIDGE_LOAD_COST_ROUNDS ?? 3);
const requestsInARound = 60;
/** V8 needs some hundreds to make a path as fast as it gets. */
const requestsBefore = 300;

let server: ServerProcess | undefined;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
afterEach(async () => {
  agent.destroy();
  server?.signal("SIGKILL");
  await server?.gone;
});

interface Cpu {
  /** Microseconds. */
  readonly used: number;
  readonly bareUrl: string;
}

const readCpu = async (url: string): Promise<Cpu> => {
  const { result } = await rpcClient(url)("tools/call", { name: "cpu" });
  const [first] = result.content as { text: string }[];
  return JSON.parse(first?.text ?? "") as Cpu;
};

interface Kind {
  readonly url: string;
  readonly method: string;
  readonly name: string;
  readonly params: Record<string, unknown>;
  /** In a good answer. */
  readonly says: string;
}

const ask = async ({ url, method, name, params, says }: Kind, times: number): Promise<void> => {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    "mcp-method": method,
    "mcp-name": name,
  };
  for (let turn = 0; turn < times; turn++) {
    const body = JSON.stringify(toRequest(method, params));
    const answer = await rawRequest(url, { method: "POST", agent, headers, body });
    if (!answer.body.includes(says)) throw new Error(`${answer.status} ${answer.body}`);
  }
};

const middleOf = (numbers: readonly number[]): number =>
  [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

it("a poll costs less than what the SDK alone takes to answer any request", async () => {
  server = await startScript(fileURLToPath(new URL("./poll-cost-server.mjs", import.meta.url)), {});
  const url = server?.url ?? "";
  const taskId = await callForTask(rpcClient(url), "work");
  const { bareUrl } = await readCpu(url);
  const poll: Kind = { url, method: "tasks/get", name: taskId, params: { taskId }, says: "working" };
  // A name that is encoded is left to the SDK, as all polls would be.
  const encoded = `=?base64?${Buffer.from(taskId).toString("base64")}?=`;
  const bare: Kind = { url: bareUrl, method: "tools/call", name: "same", params: { name: "same" }, says: '"same"' };
  const kinds: readonly Kind[] = [poll, { ...poll, name: encoded }, bare];
  for (const kind of kinds) await ask(kind, requestsBefore);
  const costs: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    for (const [index, kind] of kinds.entries()) {
      const before = await readCpu(url);
      await ask(kind, requestsInARound);
      const { used } = await readCpu(url);
      costs[index]?.push((used - before.used) / requestsInARound);
    }
  }
  const [direct, bySdk, trivial] = costs.map(middleOf) as [number, number, number];
  process.stderr.write(
    `a poll: ${direct.toFixed(0)} µs of CPU; by the SDK: ${bySdk.toFixed(0)} µs, ${(bySdk / direct).toFixed(1)} times as much; ` +
      `a trivial call of a server of the SDK alone: ${trivial.toFixed(0)} µs, ${(trivial / direct).toFixed(1)} times as much\n`,
  );
  // Two fifths where nothing else runs; a busy machine must not blur it.
  expect(direct).toBeLessThan(0.75 * bySdk);
  expect(direct).toBeLessThan(0.9 * trivial);
}, 240_000);
