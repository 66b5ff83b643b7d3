import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import {
  asExecutionRef,
  asOwnerId,
  type CreateOptions,
  type ExecutionRef,
  isBridgeError,
  removedIdReservedMs,
  type TaskRecord,
  type TaskStore,
} from "@taskbridge/core/store";
import { createSample, type SampleOverrides, sampleRecord } from "@taskbridge/testkit/store";
import { createKeys } from "../src/keys.ts";
import { deadlineOf } from "../src/records/attempt.ts";
import { parseStored } from "../src/records/stored-record.ts";
import { type DyingStores, type Order, openDyingStores } from "./dying-store.ts";
import { afterFile, connect, describeRedis, newPrefix, openStore, rejectionOf, sharedUrl } from "./redis-bench.ts";

const longMs = 3_600_000;
const bytes = new Uint8Array([1, 2, 3]);
const orders: readonly Order[] = ["as sent", "reversed"];

describeRedis("a process that dies", () => {
  let prefix = "";
  let dying: DyingStores;
  let healthy: TaskStore;
  /** Has little time, so that what is left of its attempts is soon known to be left. */
  let creator: TaskStore;

  beforeAll(async () => {
    prefix = newPrefix();
    dying = await openDyingStores(await sharedUrl(), prefix, 150);
    healthy = await openStore({ url: await sharedUrl(), prefix, operationTimeoutMs: 10_000 });
    creator = await openStore({ url: await sharedUrl(), prefix, operationTimeoutMs: 500 });
  });
  afterAll(() => dying.close());

  let names = 0;
  /** Names of this turn's own. */
  let turn = { owner: asOwnerId(""), tool: "", key: (name: string): string => name };
  const startTurn = (): void => {
    names += 1;
    const id = names;
    turn = { owner: asOwnerId(`owner-${id}`), tool: `tool-${id}`, key: (name) => `${name}-${id}` };
  };
  beforeEach(startTurn);

  const sample = (overrides: SampleOverrides = {}): Omit<TaskRecord, "revision"> =>
    sampleRecord({ owner: turn.owner, tool: turn.tool, wakeAt: 5, ...overrides });
  const full = (): CreateOptions => ({
    uniqueKeys: [
      { key: turn.key("plain") },
      { key: turn.key("until"), until: healthy.now() + longMs },
      { key: turn.key("held"), heldForMs: longMs },
    ],
    maxOpenForOwner: 1,
    maxOpenForTool: 1,
    payloads: [
      { name: "input", bytes },
      { name: "secret:a", bytes },
    ],
  });
  const listed = async (filter: object): Promise<string[]> => {
    const { records } = await healthy.list({ owner: turn.owner }, filter, undefined, 10);
    return records.map(({ taskId }) => taskId);
  };
  const listedForOperator = async (filter: object): Promise<string[]> => {
    const { records } = await healthy.list({ operator: true }, { ...filter, tool: turn.tool }, undefined, 10);
    return records.map(({ taskId }) => taskId);
  };
  const holderOf = async (key: string): Promise<unknown> =>
    (await rejectionOf(createSample(healthy, {}, { uniqueKeys: [{ key: turn.key(key) }] }))).data?.["taskId"];

  /** All that tells of a record says the same as the record. */
  const assertConsistent = async (stored: TaskRecord | undefined, { taskId, startKey, adapterId }: TaskRecord) => {
    const [open, all] = [stored?.slotHeld === true ? [taskId] : [], stored === undefined ? [] : [taskId]];
    expect(await listed({})).toEqual(all);
    expect(await listed({ slotHeld: true })).toEqual(open);
    expect(await listedForOperator({})).toEqual(all);
    expect(await listedForOperator({ slotHeld: true })).toEqual(open);
    expect(await healthy.findByExecution(adapterId, { key: startKey })).toEqual(stored);
    if (stored?.ref !== undefined)
      expect(await healthy.findByExecution(adapterId, { ref: stored.ref })).toEqual(stored);
    // Another process than the one that died sees to it, at the latest when it looks at all shards.
    const due = (await dying.fresh().due(1000)).filter((record) => record.taskId === taskId);
    expect(due).toEqual(stored?.wakeAt == null || stored.wakeAt > healthy.now() ? [] : [stored]);
    const filling = createSample(healthy, { owner: turn.owner, tool: turn.tool }, { maxOpenForOwner: 1 });
    if (open.length === 1) {
      expect(await rejectionOf(filling)).toMatchObject({ code: "limit_exceeded", data: { openTaskIds: open } });
    } else await healthy.remove((await filling).taskId);
  };

  /** The machine may be busy with other tests. */
  const retried = async (prepare: () => Promise<TaskRecord>): Promise<TaskRecord> => {
    for (let tries = 1; ; tries++) {
      try {
        return await prepare();
      } catch (error) {
        if (!isBridgeError(error) || error.code !== "unavailable" || tries === 5) throw error;
        startTurn();
      }
    }
  };

  /** Runs work in processes that die one command later each time, until one lives to its end. */
  const forEachPoint = async (
    order: Order,
    prepare: () => Promise<TaskRecord>,
    work: (store: TaskStore, record: TaskRecord) => Promise<unknown>,
    check: (record: TaskRecord, isDead: boolean) => Promise<void>,
  ): Promise<void> => {
    let slowTurns = 0;
    for (let after = 0; ; after++) {
      startTurn();
      const record = await retried(prepare);
      const { store, isDead } = dying.die(after, order);
      const outcome = await work(store, record).then(
        () => "done",
        (error: unknown) => error,
      );
      if (!isDead() && outcome !== "done" && slowTurns < 20) {
        // A machine that is busy with other tests needs longer than these processes have.
        slowTurns += 1;
        after -= 1;
        await healthy.remove(record.taskId);
        continue;
      }
      try {
        if (isDead()) expect(outcome).toMatchObject({ code: "unavailable" });
        else expect(outcome).toBe("done");
        await check(record, isDead());
      } catch (error) {
        throw new Error(`after ${after} commands, ${order}`, { cause: error });
      }
      if (!isDead()) {
        expect(after).toBeGreaterThan(2);
        return;
      }
      await healthy.remove(record.taskId);
    }
  };

  describe.each(orders)("with commands %s", (order) => {
    it("while it creates leaves all of the task or nothing, and its keys and places to the next", async () => {
      await forEachPoint(
        order,
        async () => ({ ...sample(), revision: 1 }),
        (store, record) => store.create(record, full()),
        async (record, isDead) => {
          const stored = await healthy.read(record.taskId);
          if (!isDead) expect(stored).toEqual(record);
          const payload = await healthy.readPayload(record.taskId, "secret:a", { offset: 0, length: 9 });
          expect(payload?.bytes.length).toBe(stored === undefined ? undefined : 3);
          if (stored === undefined) {
            const heir = await healthy.create(sample(), full());
            await healthy.remove(heir.taskId);
            await assertConsistent(undefined, record);
          } else {
            for (const key of ["plain", "until", "held"]) expect(await holderOf(key)).toBe(record.taskId);
            await assertConsistent(stored, record);
          }
        },
      );
    });

    it("while it creates does not keep the same task from being created by a repeated call", async () => {
      await forEachPoint(
        order,
        async () => ({ ...sample(), revision: 1 }),
        (store, record) => store.create(record, full()),
        async (record) => {
          const outcome = await healthy.create(record, full()).catch((error: unknown) => error);
          const isThere = expect.objectContaining({ code: "conflict", data: { taskId: record.taskId } });
          expect([record, isThere]).toContainEqual(outcome);
          await assertConsistent(await healthy.read(record.taskId), record);
        },
      );
    });

    it("while it revises leaves the record before or after, and every index with it", async () => {
      const newRef = (): ExecutionRef => asExecutionRef(turn.key("ref"));
      await forEachPoint(
        order,
        () => creator.create(sample({ wakeAt: null }), full()),
        (store, record) =>
          store.revise({ ...record, ref: newRef(), slotHeld: false, wakeAt: 7 }, 1, {
            dropPayloads: ["input"],
            payloads: [{ name: "output", bytes }],
          }),
        async (record, isDead) => {
          const stored = await healthy.read(record.taskId);
          if (!isDead) expect(stored?.revision).toBe(2);
          const isRevised = stored?.revision === 2;
          const lengthOf = async (name: "input" | "output"): Promise<number | undefined> =>
            (await healthy.readPayload(record.taskId, name, { offset: 0, length: 9 }))?.bytes.length;
          expect(await lengthOf("output")).toBe(isRevised ? 3 : undefined);
          expect(await lengthOf("input")).toBe(isRevised ? undefined : 3);
          if (!isRevised) expect(await healthy.findByExecution(record.adapterId, { ref: newRef() })).toBeUndefined();
          await assertConsistent(stored, record);
        },
      );
    });

    it("while it gives a record to another owner loses it from no list", async () => {
      await forEachPoint(
        order,
        () => creator.create(sample({ owner: asOwnerId("before"), slotHeld: false }), full()),
        (store, record) => store.revise({ ...record, owner: turn.owner, slotHeld: true }, 1),
        async (record) => {
          const stored = await healthy.read(record.taskId);
          const before = await healthy.list({ owner: asOwnerId("before") }, {}, undefined, 10);
          expect(before.records).toEqual(stored?.revision === 1 ? [record] : []);
          if (stored?.revision === 2) await assertConsistent(stored, record);
        },
      );
    });

    it("while it removes leaves all or nothing, and never frees a key that is to stay taken", async () => {
      await forEachPoint(
        order,
        () => creator.create(sample(), full()),
        (store, record) => store.remove(record.taskId),
        async (record, isDead) => {
          const stored = await healthy.read(record.taskId);
          if (!isDead) expect(stored).toBeUndefined();
          for (const key of ["until", "held"]) expect(await holderOf(key)).toBe(record.taskId);
          await assertConsistent(stored, record);
          if (stored !== undefined) {
            expect(await holderOf("plain")).toBe(record.taskId);
            await healthy.remove(record.taskId);
          }
          for (const key of ["until", "held"]) expect(await holderOf(key)).toBe(record.taskId);
          const heir = await createSample(healthy, {}, { uniqueKeys: [{ key: turn.key("plain") }] });
          await healthy.remove(heir.taskId);
          await assertConsistent(undefined, record);
        },
      );
    });
  });

  describe("or that stands still", () => {
    it("within a create, and wakes when its time is up, takes nothing from its heir", async () => {
      const { store, isStill, wake } = dying.stall(1);
      const record = sample();
      const creation = rejectionOf(store.create(record, full()));
      await isStill;
      const heir = await healthy.create(sample(), full());
      wake();
      expect(["conflict", "unavailable"]).toContain((await creation).code);
      expect(await healthy.read(record.taskId)).toBeUndefined();
      for (const key of ["plain", "until", "held"]) expect(await holderOf(key)).toBe(heir.taskId);
      await assertConsistent(heir, heir);
    });

    it("within a create that is repeated elsewhere, finds the task that was created", async () => {
      const slow = await openDyingStores(await sharedUrl(), prefix, 30_000);
      afterFile(slow.close);
      const { store, isStill, wake } = slow.stall(1);
      const record = sample();
      const creation = rejectionOf(store.create(record, full()));
      await isStill;
      const created = await healthy.create(record, full());
      wake();
      expect(await creation).toMatchObject({ code: "conflict", data: { taskId: record.taskId } });
      await assertConsistent(created, created);
    });

    const limits = { maxOpenForOwner: 1, maxOpenForTool: 1 };
    const heldUp: [when: string, after: number, demands: () => Partial<CreateOptions>][] = [
      ["before its only round trip", 0, () => ({})],
      ["with limits, before its first round trip", 0, () => limits],
      ["with limits, before its second round trip", 1, () => limits],
      ["with a key, before its second round trip", 1, () => ({ uniqueKeys: [{ key: turn.key("plain") }] })],
    ];
    it.each(heldUp)(
      "within a create, %s, brings nothing back that came and went meanwhile",
      async (_, after, demands) => {
        // Long enough that it is not late in itself.
        const slow = await openDyingStores(await sharedUrl(), prefix, 15_000);
        afterFile(slow.close);
        const { store, isStill, wake } = slow.stall(after);
        const record = sample();
        const { uniqueKeys = [], ...limited } = demands();
        const creation = rejectionOf(createSample(store, record, { ...limited, uniqueKeys }));
        await isStill;
        const repeated = await createSample(healthy, record, { uniqueKeys });
        await healthy.remove(record.taskId);
        wake();
        expect(await creation).toMatchObject({ code: "conflict", data: { taskId: record.taskId } });
        await assertConsistent(undefined, repeated);
      },
    );

    it("within a create, is refused before a removed ID is free, however patient its caller is", async () => {
      const patient = await openStore({ url: await sharedUrl(), prefix, operationTimeoutMs: longMs });
      const { taskId } = await createSample(patient);
      const stored = await connect(await sharedUrl()).get(createKeys(prefix).record(taskId));
      expect(deadlineOf(parseStored(stored ?? "").attempt)).toBeLessThan(patient.now() + removedIdReservedMs);
    });

    it.each([0, 1, 2])("within a revision (%i), overwrites nothing that came after", async (after) => {
      const created = await retried(() => creator.create(sample(), full()));
      const { store, isStill, wake } = dying.stall(after);
      const ref = asExecutionRef(turn.key("late"));
      const revision = store.revise({ ...created, message: "late", ref }, 1).catch((error: unknown) => error);
      await isStill;
      const current = await healthy.read(created.taskId);
      const newer = await healthy.revise({ ...created, message: "newer", slotHeld: false }, current?.revision ?? 0);
      wake();
      const outcome = await revision;
      if (after < 2) expect(outcome).toMatchObject({ code: "conflict" });
      else expect(outcome).toMatchObject({ message: "late", revision: 2 });
      expect(await healthy.read(created.taskId)).toEqual(newer);
      await assertConsistent(newer, created);
    });

    it.each([0, 1, 2, 3, 4, 5])(
      "within a revision (before command %i), is found by its new ref whoever has looked",
      async (at) => {
        const created = await retried(() => creator.create(sample(), full()));
        const ref = asExecutionRef(turn.key("found"));
        const inspect = (): Promise<TaskRecord | undefined> => healthy.findByExecution(created.adapterId, { ref });
        let commands = 0;
        const store = dying.interrupt(async (command) => {
          commands = command + 1;
          // Whoever finds an entry without its record takes it out.
          if (command === at) await inspect();
        });
        const revised = await store.revise({ ...created, ref }, 1);
        expect(commands).toBe(6);
        expect(await inspect()).toEqual(revised);
      },
    );

    const inspections: [string, (store: TaskStore, ref: ExecutionRef) => Promise<unknown>][] = [
      ["finds it by its ref", (store, ref) => store.findByExecution(sampleRecord().adapterId, { ref })],
      ["lists what is open", (store) => store.list({ owner: turn.owner }, { slotHeld: true }, undefined, 10)],
      ["counts what is open", (store) => createSample(store, sample(), { maxOpenForOwner: 1 })],
    ];
    it.each(inspections)("within a look that %s, takes out nothing that has come meanwhile", async (_name, inspect) => {
      const created = await retried(() => creator.create(sample({ slotHeld: false }), full()));
      const ref = asExecutionRef(turn.key("late"));
      let revision: Promise<TaskRecord> | undefined;
      let inspecting: Promise<unknown> | undefined;
      let placeholders = (): void => {};
      const summary = new Promise<void>((resolve) => {
        placeholders = resolve;
      });
      const reader = dying.interrupt(async (_number, command) => {
        if (!("call" in command) || command.call[0] !== "zrem" || !command.call.join().includes(created.taskId)) return;
        placeholders();
        await revision;
      });
      const writer = dying.interrupt(async (number) => {
        // It has been entered in its new indexes, and is not yet written.
        if (number !== 5) return;
        inspecting = inspect(reader, ref)
          .catch((error: unknown) => error)
          .finally(placeholders);
        await summary;
      });
      revision = writer.revise({ ...created, ref, slotHeld: true }, 1);
      const revised = await revision;
      await inspecting;
      expect(await healthy.findByExecution(created.adapterId, { ref })).toEqual(revised);
      await assertConsistent(revised, created);
    });
  });
});
