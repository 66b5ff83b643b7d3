import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { asking, describeMoto, type MotoBench, motoBench } from "../moto-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

/** So rarely that what is not heard is noticed much too late. */
const looksEveryMs = 60_000;

const yaml = ({ endpoint, queueUrl }: MotoBench): string => `
store: sqlite:./tasks.db
adapters:
  aws:
    use: step-functions
    region: eu-west-1
    endpoint: "${endpoint}"
    queueUrl: "${queueUrl}"
    queueEndpoint: "${endpoint}"
tools:
  - name: orders
    description: Runs orders.
    adapter: aws
    target: { stateMachine: orders }
    input: { type: object }
    task: { pollIntervalMs: ${looksEveryMs} }
`;

describeMoto("with a queue", () => {
  let bench: MotoBench;
  let relay: ReturnType<MotoBench["relay"]>;
  let folder: ServedFolder;
  let served: Served;
  let client: TaskClient;
  beforeAll(async () => {
    bench = await motoBench();
    await bench.machine("orders", {
      Pause: { Type: "Wait", Seconds: 2, Next: "Approve" },
      Approve: { ...asking(bench.queueUrl, "orders"), End: true },
    });
    relay = bench.relay(["orders"]);
    folder = await servedFolder(yaml(bench));
    served = await folder.serve();
    client = taskClient(served.url);
  }, 90_000);
  afterAll(async () => {
    await served?.stop();
    await folder?.close();
    await relay?.stop();
    await bench?.stop();
  });

  it("questions and ends are noticed long before anybody would look", async () => {
    const begunAt = Date.now();
    const { taskId } = await client.start("orders");
    const frames: SeenTask[] = [];
    await client.listen([taskId], (task) => {
      frames.push(task);
      const [key] = Object.keys(task.inputRequests ?? {});
      if (task.status !== "input_required" || key === undefined) return;
      void client.request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content: {} } } });
    });
    expect(frames.map(({ status }) => status)).toEqual(
      expect.arrayContaining(["working", "input_required", "completed"]),
    );
    expect(Date.now() - begunAt).toBeLessThan(looksEveryMs / 2);
  }, 90_000);
});
