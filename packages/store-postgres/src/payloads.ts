import { BridgeError, isCount, type TaskStore } from "@taskbridge/core/store";
import { readPayload } from "./payload-reads.ts";
import type { StoreParts } from "./store-parts.ts";
import { toIdKey, toKey } from "./to-key.ts";

interface PutOutcome {
  readonly outcome: "done" | "gap" | "not_found";
  readonly total: string | null;
  readonly leaves_garbage: boolean;
}

export const createPayloads = ({
  connection,
  schema,
  sweep,
}: StoreParts): Pick<TaskStore, "putPayload" | "readPayload"> => {
  const put = `SELECT * FROM ${schema}.put_payload($1, $2, $3, $4)`;

  return {
    putPayload: async (taskId, name, offset, bytes) => {
      const refuse = (problem: string): BridgeError =>
        new BridgeError("invalid_input", `cannot write at ${offset} of payload ${name}${problem}`, {
          operation: "putPayload",
        });
      if (!isCount(offset)) throw refuse("");
      const [row] = await connection.query<PutOutcome>("putPayload", {
        text: put,
        values: [toIdKey(taskId), toKey(name), offset, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)],
      });
      if (row?.outcome === "not_found")
        throw new BridgeError("not_found", `there is no task ${taskId}`, { operation: "putPayload" });
      if (row?.outcome === "gap") throw refuse(`, which has ${row.total} bytes`);
      if (row?.leaves_garbage) void sweep();
    },
    readPayload: (taskId, name, range) => readPayload(connection, schema, taskId, name, range),
  };
};
