import type { CreateStore, TaskStore } from "@taskbridge/core/store";
import type { FillTasks } from "./seed.ts";

/** What records take, all together and with all that is kept for them (bytes). */
export interface Usage {
  readonly memoryBytes?: number;
  readonly diskBytes?: number;
}

/** A place for records of its own, empty at first, with a server of its own where it needs one. */
export interface BenchedStore {
  /** What is synced when, and by whom. */
  readonly durability: string;
  /** As in a configuration file. */
  readonly url: string;
  /** Another handle to it. */
  open(): Promise<TaskStore>;
  /** Where there is a faster way than `create`. */
  readonly filling?: FillTasks;
  /** Tasks that are best written at once. Default: `batchSize`. */
  readonly atOnce?: number;
  /** Once whatever is put off has been done. */
  usage(): Promise<Usage>;
  /** Ends its server and removes its files. */
  close(): Promise<void>;
}

/** A kind of store that can be measured. */
export interface StoreKind {
  readonly name: string;
  readonly createStore: CreateStore;
  start(): Promise<BenchedStore>;
}
