import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Owner } from "../owner.ts";
import type { Failure, Ledger } from "./ledger.ts";
import type { DriverKind, Reply, TaskDriver } from "./task-driver.ts";
import { toFailure } from "./to-failure.ts";
import type { KnownTask, World } from "./world.ts";

export interface ChaosClientOptions {
  readonly name: string;
  readonly url: string;
  readonly kind: DriverKind;
  readonly owner: Owner;
  readonly random: () => number;
  readonly ledger: Ledger;
  readonly world: World;
}

/** One client: what it does once, and what it then writes down. Nothing here rejects. */
export interface ChaosClient {
  readonly kind: DriverKind;
  readonly owner: string;
  readonly random: () => number;
  /** How long it leaves a server alone that has failed it (milliseconds), longer the more often in a row. */
  restMs(): number;
  /** Calls a tool. The task, where there is one. */
  start(tool: string, ms: number): Promise<KnownTask | undefined>;
  /** Looks how a task stands; reads its result when it has ended, and answers what it asks. */
  poll(task: KnownTask): Promise<void>;
  /** Waits for the result, as far as the wire does. */
  wait(task: KnownTask): Promise<void>;
  cancel(task: KnownTask): Promise<void>;
  list(): Promise<void>;
  /** Asks for a task of somebody else, and for one that nobody has. */
  probe(task: KnownTask): Promise<void>;
  close(): Promise<void>;
}

const now = (): number => performance.now();
/** Before a client that could not connect does so again. */
const retryMs = 1_000;
/** After a failure, and after many (milliseconds). */
const firstPauseMs = 500;
const maxPauseMs = 4_000;

export const chaosClient = (options: ChaosClientOptions): ChaosClient => {
  const { name, kind, owner, random, ledger, world } = options;
  const { wire } = kind;
  let driver: Promise<TaskDriver> | undefined;
  let isClosed = false;
  let calls = 0;
  let tokens = 0;
  let failures = 0;

  const replyTo = (call: string): Reply => {
    const token = `${name}-${++tokens}`;
    ledger.add({ kind: "answering", call, token, sentAt: now() });
    return { action: "accept", content: { token } };
  };
  const connect = async (): Promise<TaskDriver> => {
    for (;;) {
      try {
        const headers = { authorization: `Bearer ${owner.token}` };
        const onAsk = (message: string): Reply => replyTo(/Publish (\S+) \?/.exec(message)?.[1] ?? message);
        return await kind.connect({ url: options.url, headers, onAsk });
      } catch (error) {
        ledger.add({ kind: "failed", wire, verb: "connect", failure: toFailure(error) });
        if (isClosed) throw error;
        await pause(retryMs);
      }
    }
  };
  const leave = (): void => {
    const leaving = driver;
    driver = undefined;
    // One that is broken may not even be closed.
    leaving?.then((open) => open.close()).catch(() => {});
  };
  /** Undefined, with the failure written down, when it does not succeed. */
  const attempt = async <Value>(
    verb: string,
    act: (open: TaskDriver) => Promise<Value>,
    onFailure?: (failure: Failure) => void,
  ): Promise<{ readonly value: Value } | undefined> => {
    driver ??= connect();
    try {
      const value = await act(await driver);
      failures = 0;
      return { value };
    } catch (error) {
      const failure = toFailure(error);
      failures = failure.kind === "unavailable" ? failures + 1 : 0;
      if (failure.kind === "gone" && !kind.reconnects) leave();
      if (onFailure === undefined || failure.kind !== "unknown task") {
        ledger.add({ kind: "failed", wire, verb, failure });
      }
      onFailure?.(failure);
      return undefined;
    }
  };
  const noteUnknown = (task: KnownTask, sentAt: number, failure: Failure): void => {
    if (failure.kind === "unknown task") {
      ledger.add({ kind: "saw", call: task.call, status: "not found", wire, sentAt, at: now() });
    }
    if (failure.kind === "cancelled") task.isRead = true;
  };
  const readResult = async (task: KnownTask, verb: string): Promise<void> => {
    const sentAt = now();
    const read = await attempt(
      verb,
      (open) => open.result(task.taskId),
      (failure) => noteUnknown(task, sentAt, failure),
    );
    if (read?.value === undefined) return;
    task.isRead = true;
    ledger.add({ kind: "result", call: task.call, result: read.value, wire });
  };
  const answer = async (task: KnownTask, key: string): Promise<void> => {
    const reply = replyTo(task.call);
    const done = await attempt("answer", async (open) => open.answer?.(task.taskId, key, reply));
    if (done === undefined) return;
    task.isAnswered = true;
    ledger.add({ kind: "answered", call: task.call, token: reply.content.token, at: now() });
  };

  return {
    kind,
    owner: owner.name,
    random,
    restMs: () => (failures === 0 ? 0 : Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs)),
    start: async (tool, ms) => {
      const call = `${name}-${++calls}`;
      ledger.add({ kind: "started", call, tool, owner: owner.name, wire, sentAt: now() });
      const begun = await attempt("start", (open) => open.start(tool, { call, ms }));
      if (begun === undefined) return undefined;
      if ("taskId" in begun.value) {
        const { taskId } = begun.value;
        ledger.add({ kind: "acknowledged", call, taskId, at: now() });
        return world.add({ taskId, call, tool, owner: owner.name });
      }
      ledger.add({ kind: "acknowledged", call, taskId: undefined, at: now() });
      ledger.add({ kind: "result", call, result: begun.value.result, wire });
      return undefined;
    },
    poll: async (task) => {
      let sentAt = now();
      const seen = await attempt(
        "poll",
        (open) => {
          // Not counting the time to connect.
          sentAt = now();
          return open.poll(task.taskId);
        },
        (failure) => noteUnknown(task, sentAt, failure),
      );
      if (seen === undefined) return;
      const { status, questions, result } = seen.value;
      const at = now();
      ledger.add({ kind: "saw", call: task.call, status, wire, sentAt, at });
      ledger.add({ kind: "polled", durationMs: at - sentAt });
      if (status === "cancelled") task.isRead = true;
      if (result !== undefined) {
        task.isRead = true;
        ledger.add({ kind: "result", call: task.call, result, wire });
      } else if (status === "finished") await readResult(task, "result");
      const [question] = questions;
      if (question !== undefined && !task.isAnswered) await answer(task, question.key);
    },
    wait: (task) => readResult(task, "wait"),
    cancel: async (task) => {
      const sentAt = now();
      ledger.add({ kind: "cancelling", call: task.call, wire, sentAt });
      if (kind.cancelDeletes) {
        task.isDeleted = true;
        ledger.add({ kind: "deleting", call: task.call, sentAt });
      }
      const done = await attempt(
        "cancel",
        (open) => open.cancel(task.taskId),
        (failure) => noteUnknown(task, sentAt, failure),
      );
      if (done !== undefined) ledger.add({ kind: "cancelled", call: task.call, isFinal: done.value, at: now() });
    },
    list: async () => {
      const listed = await attempt("list", async (open) => open.list?.());
      if (listed?.value !== undefined) ledger.add({ kind: "listed", owner: owner.name, taskIds: listed.value });
    },
    probe: async (task) => {
      const verb = random() < 0.5 ? "poll" : "cancel";
      const reported: string[] = [];
      const ids = [task.taskId, strangerOf(task.taskId)];
      for (const taskId of ids) {
        const seen = await attempt(
          `probe ${verb}`,
          async (open) => open[verb](taskId),
          (failure) => {
            if (failure.kind !== "unavailable" && failure.kind !== "gone") reported.push(failure.why);
          },
        );
        if (seen !== undefined) reported.push("an answer");
      }
      const [foreign, unknown] = reported;
      // Otherwise one of the two was not answered at all.
      if (foreign !== undefined && unknown !== undefined)
        ledger.add({ kind: "probed", verb: `${verb} on ${wire}`, foreign, unknown });
    },
    close: async () => {
      isClosed = true;
      await driver?.then((open) => open.close()).catch(() => {});
    },
  };
};

/** An ID of the same looks that nobody has. */
const strangerOf = (taskId: string): string => {
  const random = randomBytes(taskId.length);
  return [...taskId]
    .map((character, index) => {
      if (!/[0-9a-z]/i.test(character)) return character;
      const isHex = /^[0-9a-f-]+$/.test(taskId);
      const messages = isHex ? "0123456789abcdef" : "0123456789abcdefghijklmnopqrstuvwxyz";
      return messages[(random[index] ?? 0) % messages.length];
    })
    .join("");
};
