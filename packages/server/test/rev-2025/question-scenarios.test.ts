import { afterEach, expect, jest, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { type FakeClock, fakeClock } from "@taskbridge/testkit";
import fc from "fast-check";
import { type MessageStream, type Rpc2025, rpc2025 } from "../rpc-2025.ts";
import { eventually, inTime, type Served, serve, stopAll } from "../serve.ts";
import { callForTask, form, isElicitation, job, questionsOn, yes } from "./task-calls.ts";

afterEach(stopAll);

/** One of the clients: a session, and what it has open. */
interface Client {
  rpc: Rpc2025;
  readonly streams: MessageStream[];
  readonly answered: Set<unknown>;
}

type Step =
  | { readonly do: "ask" }
  | { readonly do: "withdraw" }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "listen" | "wait" | "leave" | "restart"; readonly client: number }
  | { readonly do: "answer"; readonly client: number; readonly how: "yes" | "cancel" | "wrongly" | "error" };

const client = fc.integer({ min: 0, max: 2 });
const how = fc.constantFrom("yes", "cancel", "wrongly", "error");
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("ask" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("withdraw" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.constantFrom(1_000, 11_000, 31_000) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom("listen", "wait", "leave", "restart"), client }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), client, how }) },
) as fc.Arbitrary<Step>;

const results = {
  yes: { result: { action: "accept", content: { ok: true } } },
  cancel: { result: { action: "cancel" } },
  wrongly: { result: { action: "accept", content: { ok: 7 } } },
  error: { error: { code: -32_603, message: "nobody is here" } },
};

const unanswered = ({ streams, answered }: Client) => questionsOn(...streams).filter(({ id }) => !answered.has(id));

const take = async (
  served: Served & { readonly clock: FakeClock; readonly taskId: string },
  clients: readonly Client[],
  taken: Step,
  count: number,
): Promise<void> => {
  const { backend, clock, taskId, url } = served;
  if (taken.do === "advance") return clock.advance(taken.ms);
  if (taken.do === "ask") {
    backend.of().ask({ name: `n${count}`, message: `Question ${count}`, schema: yes });
    return backend.events.settled();
  }
  if (taken.do === "withdraw") {
    backend.of().withdraw(backend.of().snapshot.questions?.[0]?.id ?? "none");
    return backend.events.settled();
  }
  const mine = clients[taken.client] as Client;
  if (taken.do === "leave") return mine.streams.at(-1)?.close();
  if (taken.do === "answer") {
    const [asked] = unanswered(mine);
    if (asked === undefined) return;
    mine.answered.add(asked.id);
    await mine.rpc.send({ id: asked.id, ...results[taken.how] } as never);
    return;
  }
  if (taken.do === "restart") {
    await mine.rpc.end();
    mine.rpc = await rpc2025(url, { capabilities: form });
    mine.streams.length = 0;
    mine.answered.clear();
    return;
  }
  mine.streams.push(await (taken.do === "listen" ? mine.rpc.listen() : mine.rpc.open("tasks/result", { taskId })));
};

test("[B-15] whatever clients do, what is still open is asked of the next one that comes, and answered once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), fc.boolean(), async (steps, ends) => {
      const clock = fakeClock();
      const served = await serve({ tools: [job], clock, store: memoryStore({ clock }), fake: { clock } });
      const claims = jest.spyOn(served.server.engine, "claimQuestion");
      const { backend, url } = served;
      const clients: Client[] = [];
      for (let index = 0; index < 3; index++) {
        clients.push({ rpc: await rpc2025(url, { capabilities: form }), streams: [], answered: new Set() });
      }
      const taskId = await callForTask((clients[0] as Client).rpc);
      for (const [count, taken] of steps.entries()) await take({ ...served, clock, taskId }, clients, taken, count);
      // Whoever ends its session gives way at once; whoever just leaves, after a while.
      for (const { rpc, streams } of clients) {
        if (ends) await rpc.end();
        else for (const stream of streams) stream.close();
      }
      const last = await rpc2025(url, { capabilities: form });
      const waiting = await last.open("tasks/result", { taskId });
      const answered = new Set<unknown>();
      await eventually(async () => {
        for (const { id } of waiting.messages.filter(isElicitation)) {
          if (answered.has(id)) continue;
          answered.add(id);
          await last.send({ id, result: { action: "accept", content: { ok: true } } });
        }
        await backend.events.settled();
        if (!ends) await clock.advance(1_000);
        return (backend.of().snapshot.questions ?? []).length === 0;
      });
      expect(backend.of().answers.every(({ deliveries }) => deliveries === 1)).toBe(true);
      const messages = questionsOn(waiting).map(({ params }) => params?.message);
      expect(new Set(messages).size).toBe(messages.length);
      backend.of().succeed("done");
      await inTime(waiting.ended);
      claims.mockClear();
      await clock.advance(60_000);
      expect(claims).not.toHaveBeenCalled();
      await served.server.close();
    }),
    { numRuns: 15, endOnFailure: true },
  );
}, 90_000);
