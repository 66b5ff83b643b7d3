import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFaultProxy } from "@taskbridge/services/fault-proxy";
import { type Facade, startFacade } from "../facade/facade.ts";
import { orders } from "./orders.ts";
import type { Point } from "./point.ts";

/** An AWS and a store for one server that comes to harm. */
export interface Scene {
  readonly facade: Facade;
  readonly machine: string;
  readonly folder: string;
  /** Where that server finds AWS. */
  readonly endpoint: string;
  /** From now on the point counts. */
  arm(): void;
  isMet(): boolean;
  /** What was held up comes through. */
  release(): void;
  close(): Promise<void>;
}

export const openScene = async ({ at }: Point): Promise<Scene> => {
  const facade = await startFacade();
  const machine = facade.machine("orders", orders);
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-point-"));
  const { hostname, port } = new URL(facade.endpoint);
  const proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  let isArmed = false;
  let isMet = false;
  /** The first time that it comes to this: nothing gets from AWS to the server any more. */
  const strike = (action: string, wanted: string): boolean => {
    if (!isArmed || isMet || action !== wanted) return false;
    isMet = true;
    proxy.set({ frozen: true });
    return true;
  };
  facade.setFaults({
    losesRequest: (action) => "lost" in at && strike(action, at.lost),
    losesAnswer: (action) => {
      if ("accepted" in at) strike(action, at.accepted);
      return false;
    },
  });
  return {
    facade,
    machine,
    folder,
    endpoint: `http://${proxy.host}:${proxy.port}`,
    arm: () => {
      isArmed = true;
    },
    isMet: () => isMet || existsSync(join(folder, "met")),
    release: () => proxy.set({}),
    close: async () => {
      await proxy.close();
      await facade.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
