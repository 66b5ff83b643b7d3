import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { asking, type MotoBench } from "../moto-bench.ts";
import { type SeenTask, type TaskClient, taskClient } from "../task-client.ts";
import { type Served, type ServedFolder, servedFolder } from "./served-folder.ts";

/** So rarely that what is not heard is noticed much too late. */
const inspectEveryMs = 60_000;

const yaml = (endpoint: string, queueUrl: string): string => `
store: sqlite:./tasks.db
adapters:
  aws:
    use: step-functions
    region: eu-west-1
    endpoint: "${endpoint}"
    queueUrl: "${queueUrl}"
    queueEndpoint: "${endpoint}"
tools:
  - name: parcels
    description: Sends parcels.
    adapter: aws
    target: { stateMachine: parcels }
    input: { type: object }
    task: { pollIntervalMs: ${inspectEveryMs} }
`;

export const testPush = (getBench: () => MotoBench): void => {
  let relay: ReturnType<MotoBench["relay"]>;
  let folder: ServedFolder;
  let served: Served;
  let client: TaskClient;
  beforeAll(async () => {
    const bench = getBench();
    const queueUrl = await bench.queue("push");
    await bench.machine("parcels", {
      Pause: { Type: "Wait", Seconds: 1, Next: "Approve" },
      Approve: { ...asking(queueUrl, "parcels"), End: true },
    });
    relay = bench.relay(["parcels"], queueUrl);
    folder = await servedFolder(yaml(bench.endpoint, queueUrl));
    served = await folder.serve();
    client = taskClient(served.url);
  }, 90_000);
  afterAll(async () => {
    await served?.stop();
    await folder?.close();
    await relay?.stop();
  });

  it("questions and ends are noticed long before anybody would look, and any object is the state's output", async () => {
    const begunAt = Date.now();
    const { taskId } = await client.start("parcels");
    const frames: SeenTask[] = [];
    await client.listen([taskId], (task) => {
      frames.push(task);
      const [key] = Object.keys(task.inputRequests ?? {});
      if (task.status !== "input_required" || key === undefined) return;
      const content = { json: '{"by":"van"}' };
      void client.request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } });
    });
    expect(frames.map(({ status }) => status)).toEqual(
      expect.arrayContaining(["working", "input_required", "completed"]),
    );
    expect(JSON.parse(frames.at(-1)?.result?.content[0]?.text ?? "")).toEqual({ by: "van" });
    expect(Date.now() - begunAt).toBeLessThan(inspectEveryMs / 2);
  }, 90_000);
};
