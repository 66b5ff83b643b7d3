import { createHash } from "node:crypto";
import {
  type Access,
  asOwnerId,
  type JsonObject,
  localOwner,
  type OwnerId,
  type TaskView,
} from "../../../src/index.ts";
import { createWorld, type Process, type World, type WorldOptions } from "../harness.ts";

/** One process on a fresh store and backend. */
export const open = async (options: WorldOptions = {}): Promise<World & Process> => {
  const world = createWorld(options);
  return { ...world, ...(await world.boot()) };
};

export const taskId = "render-2026.11:a_1";
export const scopeOf = (owner: string): string => createHash("sha256").update(owner).digest("hex").slice(0, 32);
/** What the record of the local owner is called. */
export const internalId: string = `${scopeOf("local")}~${taskId}`;

export const someone: OwnerId = asOwnerId("https://idp.example|someone");
export const theirs: Access = { owner: someone };
export const operator: Access = { operator: true };

export const mint = ({ engine }: Pick<Process, "engine">, input: JsonObject = {}, tool = "job"): Promise<TaskView> =>
  engine.createTask({ tool, input, owner: localOwner, taskId });
export const mintTheirs = ({ engine }: Pick<Process, "engine">, id: string = taskId): Promise<TaskView> =>
  engine.createTask({ tool: "job", input: {}, owner: someone, taskId: id });

/** The refusal of an ID that was used before. */
export const taken: object = {
  code: "conflict",
  message: `another task has or had the ID ${taskId}`,
  data: { taskId },
};
export const notFound: object = { code: "not_found", message: "Task not found", data: undefined };
