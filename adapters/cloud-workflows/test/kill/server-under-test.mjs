// Servers in one process that come to harm where the test says. SCENES is a list of `{ folder, endpoint, fault?, mutant? }`, one for
// each server; a fault is `POINT:K`, the K-th time that POINT is reached. Then the process kills itself, or, with HOLDS, that server
// says so by the file `met` in its folder and stays there until the process is continued after a stop. VISIBILITY_DELAY_MS replaces the
// adapter's own time in which a list may not show an execution yet. Prints a list of URLs.
import { writeFileSync } from "node:fs";
import { cloudWorkflows } from "@taskbridge/adapter-cloud-workflows";
import { createTaskServer } from "@taskbridge/server";
import { sqliteStore } from "@taskbridge/store-sqlite";

const { SCENES, SETTINGS, VISIBILITY_DELAY_MS, HOLDS } = process.env;
const settle = VISIBILITY_DELAY_MS === undefined ? {} : { visibilityDelayMs: Number(VISIBILITY_DELAY_MS) };
const continued = new Promise((resolve) => process.once("SIGCONT", resolve));

const serve = async ({ folder, endpoint, fault = "", mutant }) => {
  const [point, count] = fault.split(":");
  let left = Number(count ?? 0);
  const reach = async (name) => {
    if (name !== point || --left !== 0) return;
    if (HOLDS === undefined) process.kill(process.pid, "SIGKILL");
    writeFileSync(`${folder}/met`, "");
    await continued;
  };
  const real = cloudWorkflows({ project: "demo", location: "europe-west1", endpoint });
  const findable = { ...real.traits.start, ...settle };
  const adapter = {
    ...real,
    // What the test must notice: a start that is sent again.
    traits: { ...real.traits, start: mutant === "sent-again" ? { kind: "idempotent", forMs: null } : findable },
    start: async (...call) => {
      await reach("before-start");
      const outcome = await real.start(...call);
      await reach("after-accept");
      return outcome;
    },
    answer: async (...call) => {
      await reach("before-answer");
      await real.answer(...call);
      await reach("after-answer");
    },
    cancel: async (...call) => {
      await reach("before-cancel");
      await real.cancel(...call);
      await reach("after-cancel");
    },
  };
  const stored = await sqliteStore({ path: `${folder}/tasks.db` });
  const store = {
    ...stored,
    create: async (...call) => {
      const record = await stored.create(...call);
      await reach("after-create");
      return record;
    },
    revise: async (record, ...call) => {
      const written = await stored.revise(record, ...call);
      if (record.ref !== undefined) await reach("after-ref");
      return written;
    },
  };
  const server = await createTaskServer({ ...JSON.parse(SETTINGS), store, adapters: { gcp: adapter } });
  const { url } = await server.listen({ port: 0 });
  return url;
};

const urls = await Promise.all(JSON.parse(SCENES).map(serve));
process.stdout.write(`${JSON.stringify(urls)}\n`);
