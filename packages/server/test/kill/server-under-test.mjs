// A server that kills itself where the test says: FAULT is `POINT:K`, the K-th time that POINT is reached. Prints its URL.
import { processAdapter } from "@taskbridge/adapter-process";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, JOB, JOURNAL, PORT = "0", FAULT = "", WIRES = "" } = process.env;
const [point, count] = FAULT.split(":");
let left = Number(count ?? 0);
const reach = (name) => {
  if (name === point && --left === 0) process.kill(process.pid, "SIGKILL");
};

const local = processAdapter({ directory: `${FOLDER}/jobs`, baseDirectory: FOLDER });
const adapter = {
  ...local,
  start: async (request, context) => {
    reach("before-start");
    const outcome = await local.start(request, context);
    reach("after-accept");
    return outcome;
  },
  cancel: async (...call) => {
    reach("before-cancel");
    await local.cancel(...call);
    reach("after-cancel");
  },
  answer: async (...call) => {
    reach("before-answer");
    await local.answer(...call);
    reach("after-answer");
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
  adapters: { local: adapter },
  // A start that a kill has interrupted is taken up by another server once the call could no longer be answered.
  limits: { maxConcurrentTasksPerOwner: 2000, maxWaitsPerOwner: 4000, callTimeoutMs: 2500 },
  ...(WIRES === "" ? {} : { wires: WIRES.split(",") }),
  tools: [
    {
      name: "work",
      description: "Works for a while.",
      adapter: "local",
      target: { command: [process.execPath, JOB, JOURNAL] },
      input: { type: "object", properties: { n: { type: "integer" }, ms: { type: "integer" } }, required: ["n", "ms"] },
      task: { pollIntervalMs: 250 },
    },
  ],
});
const { url } = await server.listen({ port: Number(PORT) });
process.stdout.write(`${url}\n`);
