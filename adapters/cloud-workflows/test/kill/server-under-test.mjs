// A server that comes to harm where the test says: FAULT is `POINT:K`, the K-th time that POINT is reached. There the process kills
// itself. SETTLE_MS replaces the adapter's own time in which a list may not show an execution yet. Prints its URL.
import { cloudWorkflows } from "@taskbridge/adapter-cloud-workflows";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { FOLDER, ENDPOINT, SETTINGS, SETTLE_MS, FAULT = "", MUTANT = "" } = process.env;
const [point, count] = FAULT.split(":");
let left = Number(count ?? 0);
const reach = (name) => {
  if (name === point && --left === 0) process.kill(process.pid, "SIGKILL");
};

const real = cloudWorkflows({ project: "demo", location: "europe-west1", endpoint: ENDPOINT });
const settle = SETTLE_MS === undefined ? {} : { settleMs: Number(SETTLE_MS) };
const adapter = {
  ...real,
  traits: {
    ...real.traits,
    start: MUTANT === "sent-again" ? { kind: "idempotent", forMs: null } : { ...real.traits.start, ...settle },
  },
  start: async (request, context) => {
    reach("before-start");
    const outcome = await real.start(request, context);
    reach("after-accept");
    return outcome;
  },
  answer: async (...call) => {
    reach("before-answer");
    await real.answer(...call);
    reach("after-answer");
  },
  cancel: async (...call) => {
    reach("before-cancel");
    await real.cancel(...call);
    reach("after-cancel");
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
const server = await createTaskServer({ ...JSON.parse(SETTINGS), store, adapters: { gcp: adapter } });
const { url } = await server.listen({ port: 0 });
process.stdout.write(`${url}\n`);
