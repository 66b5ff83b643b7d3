import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFaultProxy } from "@taskbridge/services/fault-proxy";
import { type Fake, startFake } from "../fake/fake.ts";
import { orders } from "./orders.ts";
import type { Point } from "./point.ts";

/** A Google and a store for one server that comes to harm. */
export interface Scene {
  readonly fake: Fake;
  readonly workflow: string;
  readonly folder: string;
  /** Where that server finds Google. */
  readonly endpoint: string;
  /** From now on the point counts. */
  arm(): void;
  isMet(): boolean;
  /** What was held up comes through. */
  release(): void;
  close(): Promise<void>;
}

export const openScene = async ({ at }: Point): Promise<Scene> => {
  const fake = await startFake();
  const workflow = fake.workflow("orders", orders);
  const folder = await mkdtemp(join(tmpdir(), "taskbridge-point-"));
  const proxy = await startFaultProxy({ host: "127.0.0.1", port: fake.port });
  let isArmed = false;
  let isMet = false;
  fake.setFaults({
    on: {
      "*": ({ method }) => {
        const wanted = "lost" in at ? at.lost : "accepted" in at ? at.accepted : undefined;
        if (!isArmed || isMet || method !== wanted) return undefined;
        isMet = true;
        // Nothing gets from Google to the server any more.
        proxy.set({ frozen: true });
        return "lost" in at ? { kind: "cut" } : undefined;
      },
    },
  });
  return {
    fake,
    workflow,
    folder,
    endpoint: `http://${proxy.host}:${proxy.port}`,
    arm: () => {
      isArmed = true;
    },
    isMet: () => isMet || existsSync(join(folder, "met")),
    release: () => proxy.set({}),
    close: async () => {
      await proxy.close();
      await fake.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
