import { createHash } from "node:crypto";
import { BridgeError } from "../../contract/bridge-error.ts";
import { asTaskId, type TaskId } from "../../contract/identity.ts";
import type { TaskRecord } from "../../contract/task-record.ts";
import type { UniqueKey } from "../../contract/task-store.ts";
import type { EngineContext } from "../context/engine-context.ts";
import type { CreateTask } from "../context/task-engine.ts";
import { isServerMinted, mintTaskId } from "../context/task-id.ts";
import type { ResolvedTool } from "../context/tool-definition.ts";
import { parseClientId, toScopedId } from "../state/client-task-id.ts";

/** What the record is to be called. Rejects with `conflict` when a client minted an ID that is this owner's already. */
export const acquireTaskId = async (engine: EngineContext, request: CreateTask): Promise<TaskId> => {
  if (request.taskId === undefined) return mintTaskId(engine.random);
  const { clientId, owner } = parseClientId(request.taskId, request.owner);
  // The store sees to it that a client mints an ID once. That it is none of ours, made for the same owner, is seen here:
  // nobody can guess one before it is made.
  if (isServerMinted(clientId) && (await engine.store.read(asTaskId(clientId)))?.owner === owner)
    throw taskIdInUse(clientId);
  return toScopedId(owner, clientId);
};

export const taskIdInUse = (clientId: string): BridgeError =>
  new BridgeError("conflict", `another task has or had the ID ${clientId}`, { data: { taskId: clientId } });

/** The call that a record is made for. */
interface KeyedCall {
  readonly request: CreateTask;
  readonly tool: ResolvedTool;
  readonly record: Pick<TaskRecord, "taskId" | "createdAt">;
  /** As it is kept. */
  readonly input: Uint8Array;
}

/** What no second record may be made for: an ID that a client minted, or else the call itself while it folds. */
export const uniqueKeysOf = (
  { limits }: Pick<EngineContext, "limits">,
  { request, tool, record, input }: KeyedCall,
): readonly UniqueKey[] => {
  if (request.taskId !== undefined) return [{ key: `id:${record.taskId}`, heldForMs: limits.tombstoneMs }];
  const { dedupeWindowMs } = tool.task;
  if (dedupeWindowMs <= 0) return [];
  return [{ key: callKey(tool, request, input), until: record.createdAt + dedupeWindowMs }];
};

/** The same for every call with the same arguments by the same owner. */
const callKey = (tool: ResolvedTool, { owner }: CreateTask, input: Uint8Array): string => {
  const digest = createHash("sha256")
    .update(JSON.stringify([owner, tool.name]))
    .update(input)
    .digest("hex");
  return `call:${digest}`;
};
