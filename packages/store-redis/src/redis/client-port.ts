import { performance } from "node:perf_hooks";
import { BridgeError } from "@taskbridge/core/store";
import { addressOf, isCluster, type RedisClient } from "./redis-client.ts";
import type { Argument, Call, Command, RedisPort, Reply, Script } from "./redis-port.ts";
import { toError } from "./to-error.ts";
import { whenReady } from "./when-ready.ts";

type Words = [name: string, ...args: (string | number | Buffer)[]];

/** A command on its way. */
interface Pending {
  readonly command: Command;
  readonly words: Words;
  resolve(reply: Reply): void;
  reject(error: unknown): void;
}

/** Sends the store's commands through a client of ioredis. */
export const createClientPort = (client: RedisClient, timeoutMs: number): RedisPort => {
  let pending: Pending[] = [];

  /** All commands of one turn of the event loop, in one piece. */
  const flush = async (): Promise<void> => {
    const batch = pending;
    pending = [];
    const pipeline = client.pipeline();
    for (const { command, words } of batch) {
      if (command.asBytes === true) pipeline.callBuffer(...words);
      else pipeline.call(...words);
    }
    try {
      const replies = (await pipeline.exec()) ?? [];
      for (const [index, { resolve, reject }] of batch.entries()) {
        const [error, reply] = replies[index] ?? [new Error("no reply")];
        if (error === null) resolve(reply as Reply);
        else reject(error);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const enqueue = (command: Command, words: Words): Promise<Reply> =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(() => void flush());
      pending.push({ command, words, resolve, reject });
    });

  /** A cluster's client knows by itself where a key is, and finds it again when it has moved. */
  const sendAlone = async (command: Command, words: Words): Promise<Reply> =>
    (await (command.asBytes === true ? client.callBuffer(...words) : client.call(...words))) as Reply;

  const sendOne = async (command: Command): Promise<Reply> => {
    const send = isCluster(client) ? sendAlone : enqueue;
    if ("call" in command) return send(command, command.call.map(toWord) as Words);
    try {
      return await send(command, toScriptCall("evalsha", command, command.script.sha));
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return send(command, toScriptCall("eval", command, command.script.lua));
    }
  };

  const sendStages = async (stages: readonly (readonly Command[])[]): Promise<Reply[]> => {
    const replies: Reply[] = [];
    if (!isCluster(client)) return Promise.all(stages.flat().map(sendOne));
    for (const stage of stages) replies.push(...(await Promise.all(stage.map(sendOne))));
    return replies;
  };

  return {
    send: async (call, ...stages) => {
      if (stages.every((stage) => stage.length === 0)) return [];
      try {
        await whenReady(client, call, timeoutMs);
        return await inTime(call, sendStages(stages));
      } catch (error) {
        throw toError(error, addressOf(client), call.operation);
      }
    },
  };
};

const toWord = (argument: Argument): string | number | Buffer =>
  typeof argument === "object" ? Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength) : argument;

const toScriptCall = (
  name: "eval" | "evalsha",
  { keys, args }: { readonly script: Script; readonly keys: readonly string[]; readonly args: readonly Argument[] },
  body: string,
): Words => [name, body, keys.length, ...keys, ...args.map(toWord)];

/** Gives up an answer that does not come. */
export const inTime = async <Value>(call: Call, answer: Promise<Value>): Promise<Value> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const give = (): void => reject(new Error("no answer in time"));
    timer = setTimeout(give, Math.max(0, call.endsAt - performance.now()));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
    // It may still fail, when nobody waits for it any more.
    answer.catch(() => {});
  }
};

/** What a call on a closed store is answered. */
export const closedError = (operation: string): BridgeError =>
  new BridgeError("unavailable", "the Redis store is closed", { operation });
