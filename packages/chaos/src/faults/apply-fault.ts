import { setTimeout as pause } from "node:timers/promises";
import type { FaultProxy } from "@taskbridge/services/fault-proxy";
import type { Fleet } from "../fleet/fleet.ts";
import type { ProcessSlot } from "../fleet/process-slot.ts";
import type { Fault } from "./fault.ts";

/** How long answers are held back on a slow link (milliseconds). */
const delayMs = 400;
/** One in so many answers is lost, once its request was taken. */
const lostShare = 0.05;

/** Does what goes wrong, and resolves once it is over and what was ended is up again. */
export const applyFault = async (fault: Fault, fleet: Fleet, random: () => number): Promise<void> => {
  const { kind, target, forMs } = fault;
  const replica = fleet.replicas[target] as ProcessSlot;
  switch (kind) {
    case "kill replica":
      return replica.kill(forMs);
    case "stop replica":
      return replica.freeze(forMs);
    case "roll replica":
      return void (await replica.roll());
    case "kill worker":
      return fleet.workers[target]?.kill(forMs);
    case "restart store":
      return fleet.store.restart(forMs);
    case "restart queue": {
      await fleet.queue.kill();
      await pause(forMs);
      return fleet.queue.restart();
    }
    default:
      return disturbLink(fault, linkOf(fault, fleet), random);
  }
};

const linkOf = ({ link = "queue", target }: Fault, fleet: Fleet): FaultProxy => {
  const links = fleet.links[target];
  return (links?.[link] ?? links?.queue) as FaultProxy;
};

const disturbLink = async ({ kind, forMs }: Fault, link: FaultProxy, random: () => number): Promise<void> => {
  if (kind === "cut link") return link.cut();
  if (kind === "delay link") link.set({ delayMs });
  else if (kind === "freeze link") link.set({ frozen: true });
  else link.set({ losesAnswer: () => random() < lostShare });
  await pause(forMs);
  link.set({});
};
