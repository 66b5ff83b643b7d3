import { expect, it } from "@jest/globals";
import { isBridgeError, localOwner, type TaskView } from "../../../src/index.ts";
import { createWorld, mine, type Process, seededBytes } from "../harness.ts";

/** `npm run soak` raises it. */
const count = Number(process.env.TASKBRIDGE_CLIENT_IDS ?? 200);
const ids = Array.from({ length: count }, (_, index) => `client-${index}`);
const batchSize = 8;

const draw = (random: (count: number) => Uint8Array, max: number): number => (random(1)[0] as number) % max;

it(`starts ${count} executions for ${count} IDs, each sent three times at once to two processes that die at random`, async () => {
  const world = createWorld({
    limits: { maxConcurrentTasksPerOwner: 100_000 },
    adapter: { without: ["watch"], onStart: (execution) => execution.succeed({ by: execution.id }) },
  });
  const random = seededBytes("duplicates");
  const processes: Process[] = [await world.boot(), await world.boot()];
  const accepted = new Map<string, number>();
  const odd: unknown[] = [];
  let kills = 0;

  const send = (process: Process, taskId: string): Promise<void> =>
    process.engine.createTask({ tool: "job", input: { taskId }, owner: localOwner, taskId }).then(
      ({ record }: TaskView) => {
        accepted.set(record.taskId, (accepted.get(record.taskId) ?? 0) + 1);
      },
      (error: unknown) => {
        if (!isBridgeError(error) || error.message !== `another task has or had the ID ${taskId}`) odd.push(error);
      },
    );
  const sendToAny = (taskId: string): Promise<void> => send(processes[draw(random, 2)] as Process, taskId);

  for (let first = 0; first < ids.length; first += batchSize) {
    const batch = ids.slice(first, first + batchSize);
    processes[draw(random, 2)]?.killAfter(draw(random, 200));
    // What a dead process was asked is never answered.
    for (const taskId of batch) for (let copy = 0; copy < 3; copy++) void sendToAny(taskId);
    await world.clock.advance(1_000);
    for (const [index, process] of processes.entries()) {
      if (!process.isKilled) continue;
      kills++;
      processes[index] = await world.boot();
    }
  }
  expect(kills).toBeGreaterThan(10);
  for (const process of processes) process.killAfter(Number.POSITIVE_INFINITY);

  // Whoever was not answered asks again.
  await Promise.all(ids.map(sendToAny));
  await world.clock.advance(180_000);
  expect(odd).toEqual([]);
  expect([...accepted.values()].filter((count) => count > 1)).toEqual([]);
  expect(world.backend.starts()).toBe(ids.length);
  const { engine } = processes[0] as Process;
  for (const taskId of ids) {
    const { record, output } = await engine.readTask(taskId, mine);
    expect([record.state, record.taskId]).toEqual(["succeeded", taskId]);
    const execution = world.backend.executions.find(({ key }) => key === record.startKey);
    expect(execution?.input).toBe(JSON.stringify({ taskId }));
    expect(Buffer.from(output ?? []).toString()).toBe(JSON.stringify({ by: execution?.id }));
  }

  // A duplicate that was under way for long comes after the task was deleted.
  await Promise.all(ids.map((taskId) => engine.deleteTask(taskId, mine)));
  await world.clock.advance(86_400_000);
  accepted.clear();
  await Promise.all(ids.map(sendToAny));
  expect([accepted.size, odd]).toEqual([0, []]);
  expect(world.backend.starts()).toBe(ids.length);
  expect((await world.store.list({ operator: true }, { includeExpired: true }, undefined, 10)).records).toEqual([]);
}, 120_000);
