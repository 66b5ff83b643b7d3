import type { WireName } from "@taskbridge/client";
import type { GivenResult, SeenStatus } from "./ledger.ts";

/** What a call is answered with first. */
export type Begun = { readonly taskId: string } | { readonly result: GivenResult };

export interface OpenQuestion {
  readonly key: string;
  readonly message: string;
}

/** A task as it stands. */
export interface PollResult {
  readonly status: Exclude<SeenStatus, "not found">;
  /** Those that `answer` takes. */
  readonly questions: readonly OpenQuestion[];
  /** Where the wire tells it with the status. */
  readonly result?: GivenResult;
}

/** The arguments of every tool. */
export interface CallArguments {
  readonly call: string;
  readonly ms: number;
  readonly [name: string]: unknown;
}

/** What a person answers. */
export interface Reply {
  readonly action: "accept";
  readonly content: { readonly token: string };
}

/** One connected client, whichever SDK it is made of. What rejects does so with whatever that SDK throws. */
export interface TaskDriver {
  start(tool: string, args: CallArguments): Promise<Begun>;
  poll(taskId: string): Promise<PollResult>;
  /** Of a task that has ended; of one that runs on, waited for a while, undefined. */
  result(taskId: string): Promise<GivenResult | undefined>;
  /** Whether it is told that the task is cancelled, and not only that it is to be. */
  cancel(taskId: string): Promise<boolean>;
  /** Absent where a server asks by requests of its own. */
  answer?(taskId: string, key: string, reply: Reply): Promise<void>;
  /** IDs of the owner's tasks. Absent where the wire has no list. */
  list?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Told what the server asks by a request of its own. */
  onAsk(message: string): Reply;
}

/** A kind of client. */
export interface DriverKind {
  readonly name: string;
  readonly wire: WireName;
  /** A cancel may delete the task. */
  readonly cancelDeletes: boolean;
  /** It connects again by itself. */
  readonly reconnects: boolean;
  connect(options: ConnectOptions): Promise<TaskDriver>;
}
