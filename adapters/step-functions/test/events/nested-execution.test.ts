import "../aws-environment.ts";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { createTaskServer } from "@taskbridge/server";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import type { QueueClient } from "../../src/events/queue-client.ts";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { stepFunctionsOver } from "../../src/step-functions.ts";
import { type Facade, startFacade } from "../facade/facade.ts";
import { runsOn } from "../facade/script.ts";
import { taskClient } from "../task-client.ts";
import { until } from "../until.ts";

let facade: Facade;
beforeEach(async () => {
  facade = await startFacade();
});
afterEach(() => facade.close());

/** A queue that is empty until something is sent; `sent` resolves once the server has taken and deleted it. */
const liveQueue = () => {
  const lying: { readonly body: string; readonly taken: () => void }[] = [];
  let wake = (): void => {};
  const client: QueueClient = {
    receive: async (waitSeconds, signal) => {
      if (lying.length === 0 && waitSeconds > 0)
        await new Promise<void>((resolve, reject) => {
          wake = resolve;
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      return lying.map(({ body }, index) => ({ id: String(index), body, handle: String(index) }));
    },
    delete: async () => {
      for (const { taken } of lying.splice(0)) taken();
    },
    check: async () => {},
    close: () => {},
  };
  const send = (body: object): Promise<void> =>
    new Promise((taken) => {
      lying.push({ body: JSON.stringify(body), taken });
      wake();
    });
  return { client, send };
};

it("that has its parent's name does not end the parent's task, which still hears of its own end", async () => {
  const parents = facade.machine("orders", runsOn);
  const children = facade.machine("children", runsOn);
  const queue = liveQueue();
  const { region, endpoint } = facade;
  const client = sfnClient(parseOptions({ region, endpoint }));
  const server = await createTaskServer({
    name: "nested",
    store: memoryStore(),
    adapters: { aws: stepFunctionsOver({ type: "standard", region, quotaShare: 1 }, client, queue.client) },
    tools: [
      {
        name: "work",
        description: "Works.",
        adapter: "aws",
        target: { stateMachine: "orders" },
        input: { type: "object" },
      },
    ],
  });
  try {
    const { url } = await server.listen({ port: 0 });
    const tasks = taskClient(url);
    const { taskId } = await tasks.start("work");
    const [parent] = facade.executions(parents);
    if (parent === undefined) throw new Error("nothing was started");
    const child = parent.arn.replace(":orders:", ":children:");
    await client.start({ machineArn: children, name: parent.name, input: "{}" }, new AbortController().signal);
    facade.end(child, { status: "SUCCEEDED", output: '"of the child"' });

    const report = (executionArn: string) =>
      queue.send({ source: "aws.states", detail: { executionArn, name: parent.name, status: "SUCCEEDED" } });
    await report(child);
    facade.end(parent.arn, { status: "SUCCEEDED", output: '"of the parent"' });
    await report(parent.arn);
    const task = await until("the task ends", async () => {
      const seen = await tasks.get(taskId);
      return seen.status === "working" ? undefined : seen;
    });
    expect([task.status, JSON.stringify(task.result)]).toEqual(["completed", expect.stringContaining("of the parent")]);
  } finally {
    await server.close();
  }
});
