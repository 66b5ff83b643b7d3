import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createKeys, indexKeysOf } from "../../store-redis/dist/keys.js";
import { newAttempt } from "../../store-redis/dist/records/attempt.js";
import { toEntry } from "../../store-redis/dist/records/index-entry.js";
import { signatureOf, toStored } from "../../store-redis/dist/records/stored-record.js";
import type { SampleTask } from "./sample-task.ts";
import type { WriteTasks } from "./seed.ts";

type Command = readonly (string | number)[];

const keys = createKeys("taskbridge:");

/** Writes what the store's scripts would, many tasks in one go and without their checks: some five times faster. */
export const writeRedis =
  (host: string, port: number): WriteTasks =>
  async (tasks) => {
    const commands = tasks.flatMap(toCommands);
    const socket = connect({ host, port });
    try {
      const replies = readReplies(socket, commands.length);
      socket.write(commands.map(encode).join(""));
      await replies;
    } finally {
      socket.destroy();
    }
  };

const toCommands = ({ record, payloads }: SampleTask): readonly Command[] => {
  const { taskId, wakeAt } = record;
  const created = { ...record, revision: 1 };
  const attempt = newAttempt(record.createdAt);
  const entry = toEntry(record, attempt);
  const shard = keys.shardOf(taskId);
  const indexKeys = indexKeysOf(keys, record);
  const kept = { revision: 1, attempt, uniqueKeys: [], record: created };
  return [
    ...indexKeys.flatMap((key): Command[] => (key === undefined ? [] : [["ZADD", key, 0, entry]])),
    ["SET", keys.record(taskId), toStored(kept, JSON.stringify(created), signatureOf(indexKeys, record))],
    ["ZADD", shard.all, 0, entry],
    ...(record.slotHeld ? [["ZADD", shard.open, 0, entry]] : []),
    ...payloads.map(({ name, bytes }) => ["SET", keys.payloads(taskId) + name, Buffer.from(bytes).toString()]),
    ...(wakeAt === null
      ? []
      : [
          ["ZADD", shard.due, wakeAt, taskId],
          ["ZADD", keys.wakeHints, "LT", wakeAt, shard.id],
        ]),
  ];
};

const encode = (command: Command): string => {
  const parts = command.map(String).map((part) => `$${Buffer.byteLength(part)}\r\n${part}\r\n`);
  return `*${parts.length}\r\n${parts.join("")}`;
};

/** Each reply is one line. */
const readReplies = async (socket: Socket, count: number): Promise<void> => {
  const ended = once(socket, "close").then(() => {
    throw new Error("Redis has closed the connection");
  });
  ended.catch(() => {});
  let text = "";
  let left = count;
  socket.setEncoding("latin1");
  const answered = new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      const lines = (text + chunk).split("\r\n");
      text = lines.pop() ?? "";
      const refusal = lines.find((line) => line.startsWith("-"));
      if (refusal !== undefined) reject(new Error(`Redis refuses: ${refusal}`));
      left -= lines.length;
      if (left === 0) resolve();
    });
  });
  await Promise.race([answered, ended]);
};
