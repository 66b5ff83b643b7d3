import { setTimeout as pause } from "node:timers/promises";
import type { ChaosClient } from "./chaos-client.ts";
import type { KnownTask, World } from "./world.ts";

/** What the run is at. */
export interface Stage {
  /** Clients begin nothing new any more, and bring to its end what they have begun. */
  isSettling: boolean;
  isOver: boolean;
}

/** Between two things that a client does (milliseconds), on average. */
const meanPauseMs = 600;
/** Of a client's own tasks so many are open at once. */
const maxOpen = 4;
const maxJobMs = 6_000;
/** Those that many clients read the end of are left alone after so many. */
const recent = 40;

/** Does what a client does until the run is over: starts, looks, waits, cancels, lists, reads late, tries what is not its own. */
export const behave = async (client: ChaosClient, world: World, stage: Stage): Promise<void> => {
  const { random } = client;
  const mine: KnownTask[] = [];
  const isOpen = (task: KnownTask): boolean => !task.isRead && !task.isDeleted;
  const pick = (tasks: readonly KnownTask[]): KnownTask | undefined => tasks[Math.floor(random() * tasks.length)];
  const poll = async (tasks: readonly KnownTask[]): Promise<void> => {
    const task = pick(tasks);
    if (task !== undefined) await client.poll(task);
  };
  const begin = async (): Promise<void> => {
    const task = await client.start(drawTool(random), 300 + Math.floor(random() * maxJobMs));
    if (task !== undefined) mine.push(task);
  };
  const meddle = async (): Promise<void> => {
    const chance = random();
    const open = mine.filter(isOpen);
    const [task] = open;
    const other = pick(world.ofOthers(client.owner));
    if (chance < 0.1 && task !== undefined) await client.wait(task);
    else if (chance < 0.16 && task !== undefined) await client.cancel(pick(open) ?? task);
    else if (chance < 0.22) await client.list();
    else if (chance < 0.3 && other !== undefined) await client.probe(other);
    else if (chance < 0.45)
      await poll(
        world
          .ofOwner(client.owner)
          .slice(-recent)
          .filter((known) => !known.isDeleted),
      );
    else if (chance < 0.55) await poll(mine.filter(({ isDeleted }) => !isDeleted));
    else await poll(open);
  };
  while (!stage.isOver) {
    if (stage.isSettling) {
      await poll(world.ofOwner(client.owner).filter(isOpen));
    } else if (mine.filter(isOpen).length < maxOpen && random() < 0.3) await begin();
    else await meddle();
    await pause(client.restMs() + random() * 2 * meanPauseMs);
  }
};

const drawTool = (random: () => number): string => {
  const chance = random();
  if (chance < 0.3) return "quick";
  if (chance < 0.65) return "slow";
  return chance < 0.85 ? "ask" : "fail";
};
