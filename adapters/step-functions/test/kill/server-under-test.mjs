// A server that kills itself where the test says: FAULT is `POINT:K`, the K-th time that POINT is reached. Prints its URL.
import { randomBytes } from "node:crypto";
import { stepFunctions } from "@taskbridge/adapter-step-functions";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, ENDPOINT, FAULT = "", MUTANT = "" } = process.env;
const [point, count] = FAULT.split(":");
let left = Number(count ?? 0);
const reach = (name) => {
  if (name === point && --left === 0) process.kill(process.pid, "SIGKILL");
};

const real = stepFunctions({ region: "eu-west-1", endpoint: ENDPOINT });
const adapter = {
  ...real,
  start: async (request, context) => {
    reach("before-start");
    // What the test must notice: a name of its own for each attempt.
    const key = MUTANT === "key-per-attempt" ? `mcp-${randomBytes(16).toString("hex")}` : request.key;
    const outcome = await real.start({ ...request, key }, context);
    reach("after-accept");
    return outcome;
  },
};
const stored = await sqliteStore({ path: `${FOLDER}/tasks.db` });
const store = {
  ...stored,
  create: async (...call) => {
    const record = await stored.create(...call);
    reach("after-create");
    return record;
  },
  revise: async (record, ...call) => {
    const written = await stored.revise(record, ...call);
    if (record.ref !== undefined) reach("after-ref");
    return written;
  },
};
const server = await createTaskServer({
  name: "under-test",
  store,
  adapters: { aws: adapter },
  // A start that was under way in a life before is taken up when this has passed.
  limits: { maxConcurrentTasksPerOwner: 2_000, callTimeoutMs: 3_000, sweepIntervalMs: 2_000 },
  tools: [
    {
      name: "work",
      description: "Works for a while.",
      adapter: "aws",
      target: { stateMachine: "orders" },
      input: { type: "object", properties: { n: { type: "integer" }, ms: { type: "integer" } }, required: ["n", "ms"] },
      task: { pollIntervalMs: 2_000 },
    },
  ],
});
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
