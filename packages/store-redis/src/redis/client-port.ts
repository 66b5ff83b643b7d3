import { performance } from "node:perf_hooks";
import { BridgeError, within } from "@taskbridge/core/store";
import { addressOf, isCluster, type RedisClient } from "./redis-client.ts";
import type { Argument, Call, Command, ForEach, RedisPort, Reply, Script } from "./redis-port.ts";
import { toError } from "./to-error.ts";
import { whenReady } from "./when-ready.ts";

type Words = [name: string, ...args: (string | number | Buffer)[]];

/** A command on its way. */
interface Pending {
  readonly words: Words;
  readonly asBytes: boolean;
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
    for (const { asBytes, words } of batch) {
      if (asBytes) pipeline.callBuffer(...words);
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

  const enqueue = (words: Words, asBytes: boolean): Promise<Reply> =>
    new Promise((resolve, reject) => {
      if (pending.length === 0) setImmediate(() => void flush());
      pending.push({ words, asBytes, resolve, reject });
    });

  /** A cluster's client knows by itself where a key is, and finds it again when it has moved. */
  const sendAlone = async (words: Words, asBytes: boolean): Promise<Reply> =>
    (await (asBytes ? client.callBuffer(...words) : client.call(...words))) as Reply;

  const sendWords = isCluster(client) ? sendAlone : enqueue;

  const runScript = async (
    { lua, sha }: Script,
    keys: readonly string[],
    args: readonly Argument[],
    asBytes: boolean,
    isFollowed: boolean,
  ): Promise<Reply> => {
    const rest = [keys.length, ...keys, ...args.map(toWord)];
    // A server that has forgotten the script would still carry out what is right behind it.
    if (isFollowed) return sendWords(["eval", lua, ...rest], asBytes);
    try {
      return await sendWords(["evalsha", sha, ...rest], asBytes);
    } catch (error) {
      if (!startsWith(error, "NOSCRIPT")) throw error;
      return sendWords(["eval", lua, ...rest], asBytes);
    }
  };

  /** False once a server that looks like one has turned out to be several, behind something that speaks for them. */
  let isOneServer = !isCluster(client);

  const runForEach = async ({ forEach, locations, first }: ForEach, isFollowed: boolean): Promise<Reply> => {
    const run = (keys: readonly string[], args: readonly Argument[]): Promise<Reply> =>
      runScript(forEach, keys, [...first, ...args], false, isFollowed);
    if (isOneServer) {
      try {
        const keys = locations.flatMap((location) => location.keys);
        const args = locations.flatMap((location) => location.args);
        return await run(keys, args);
      } catch (error) {
        if (!startsWith(error, "CROSSSLOT")) throw error;
        isOneServer = false;
      }
    }
    const replies = await Promise.all(locations.map(({ keys, args }) => run(keys, args)));
    return (replies as (readonly Reply[])[]).map(([reply = null]) => reply);
  };

  /** `isFollowed`: the next stage goes out with it. */
  const sendOne = (command: Command, isFollowed: boolean): Promise<Reply> => {
    if ("call" in command) return sendWords(command.call.map(toWord) as Words, false);
    if ("forEach" in command) return runForEach(command, isFollowed);
    return runScript(command.script, command.keys, command.args, command.asBytes === true, isFollowed);
  };

  const sendStages = async (stages: readonly (readonly Command[])[]): Promise<Reply[]> => {
    const replies: Reply[] = [];
    const filled = stages.filter((stage) => stage.length > 0);
    if (!isCluster(client)) {
      const isFollowed = (index: number): boolean => index < filled.length - 1;
      return Promise.all(filled.flatMap((stage, index) => stage.map((command) => sendOne(command, isFollowed(index)))));
    }
    for (const stage of filled) replies.push(...(await Promise.all(stage.map((command) => sendOne(command, false)))));
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

const startsWith = (error: unknown, word: string): boolean => error instanceof Error && error.message.startsWith(word);

/** Gives up an answer that does not come. */
export const inTime = async <Value>(call: Call, answer: Promise<Value>): Promise<Value> => {
  const answered = await within(
    answer.then((value) => ({ value })),
    call.endsAt - performance.now(),
  );
  if (answered === undefined) throw new Error("no answer in time");
  return answered.value;
};

/** What a call on a closed store is answered. */
export const closedError = (operation: string): BridgeError =>
  new BridgeError("unavailable", "the Redis store is closed", { operation });
