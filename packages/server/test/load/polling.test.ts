import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "@jest/globals";
import { type Answer, rpcClient } from "../rpc-client.ts";
import { type ServerProcess, startScript } from "../server-process.ts";

const clients = 100;
const pollEveryMs = 100;
/** `npm run soak` raises it. */
const forMs = Number(process.env.TASKBRIDGE_LOAD_POLLED_MS ?? 2_500);

let server: ServerProcess | undefined;
afterEach(async () => {
  server?.signal("SIGKILL");
  await server?.gone;
});

const textOf = (answer: Answer): string => {
  const [first] = answer.result.content as { text: string }[];
  return first?.text ?? "";
};

describe("a hundred clients that poll one execution ten times a second", () => {
  it("cost the backend one look per advertised interval, and notice the end within two (case 28)", async () => {
    server = await startScript(fileURLToPath(new URL("./polled-server.mjs", import.meta.url)), {});
    const call = rpcClient(server?.url ?? "");
    const { result } = await call("tools/call", { name: "work" });
    const taskId = String(result.taskId);
    const intervalMs = Number(result.pollIntervalMs);
    const startedAt = Date.now();
    let polls = 0;
    let advertisedMs = intervalMs;
    const poll = async (index: number): Promise<void> => {
      await sleep((index * pollEveryMs) / clients);
      while (Date.now() - startedAt < forMs) {
        const sentAt = Date.now();
        const answer = await call("tasks/get", { taskId });
        if (answer.result.status !== "working") throw new Error(JSON.stringify(answer));
        advertisedMs = Math.max(advertisedMs, Number(answer.result.pollIntervalMs));
        polls++;
        await sleep(Math.max(0, sentAt + pollEveryMs - Date.now()));
      }
    };
    await Promise.all(Array.from({ length: clients }, (_, index) => poll(index)));
    const inspections = JSON.parse(textOf(await call("tools/call", { name: "looks" }))) as number[];
    const during = inspections.filter((at) => at <= startedAt + forMs);
    const gaps = during.slice(1).map((at, index) => at - (during[index] ?? 0));

    const endedAt = Number(textOf(await call("tools/call", { name: "end" })));
    let noticedAt = 0;
    for (; noticedAt === 0; await sleep(pollEveryMs)) {
      const answer = await call("tasks/get", { taskId });
      if (answer.result.status === "completed") noticedAt = Date.now();
      else expect(Date.now() - endedAt).toBeLessThan(4 * advertisedMs);
    }
    process.stderr.write(
      `polling: ${clients} clients, ${polls} polls in ${forMs / 1000} s, advertised ${intervalMs} ms; looks ${during.length}, ` +
        `closest two ${Math.min(...gaps)} ms apart; the end was noticed after ${((noticedAt - endedAt) / advertisedMs).toFixed(2)} intervals\n`,
    );
    // A machine that is busy otherwise answers fewer; what counts is that they are many for one look.
    expect(polls).toBeGreaterThan(during.length * 5);
    expect(during.length).toBeLessThanOrEqual(Math.ceil(forMs / intervalMs) + 1);
    // The backend notes when a look arrives, some milliseconds after it was decided on.
    expect(Math.min(...gaps)).toBeGreaterThan(intervalMs * 0.8);
    expect(noticedAt - endedAt).toBeLessThanOrEqual(2 * advertisedMs + pollEveryMs);
  }, 60_000);
});
