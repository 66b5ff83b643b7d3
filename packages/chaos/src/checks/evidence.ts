import type { LedgerEvent } from "../clients/ledger.ts";

/** A task as the store has it in the end. */
export interface KeptTask {
  readonly taskId: string;
  readonly call: string;
  readonly startKey: string;
  readonly state: string;
  readonly message: string | undefined;
  /** It has ended, and its execution too. */
  readonly isOver: boolean;
  readonly isDeleted: boolean;
  /** A replica of the next version has created it, with members that only that knows. */
  readonly isOfNext: boolean;
  /** These members are there. */
  readonly hasNext: boolean;
}

/** A job as BullMQ's own Redis has it in the end. */
export interface KeptJob {
  readonly id: string;
  readonly call: string;
  /** JSON of what the worker returned, as Redis keeps it. */
  readonly returned: string | undefined;
  readonly failedReason: string | undefined;
  /** Its task was cancelled before it ran to its end: only its ID is kept, so that it is not added again. */
  readonly isRemoved: boolean;
  /** BullMQ's own count of how often it was given to a worker. */
  readonly given: number;
  /** BullMQ's own count of how often a worker lost it. */
  readonly stalls: number;
}

/** A line of a worker's ledger. */
export type WorkerLine =
  | { readonly kind: "begins"; readonly job: string; readonly call: string }
  /** Waits for an answer: it will be run again from its beginning. */
  | { readonly kind: "puts off"; readonly job: string }
  /** `token`: empty where the question was dismissed. */
  | { readonly kind: "is answered"; readonly job: string; readonly token: string }
  /** JSON of what it is about to return. */
  | { readonly kind: "returns"; readonly job: string; readonly value: string };

/** All that is there when everything has come to rest. */
export interface Evidence {
  readonly events: readonly LedgerEvent[];
  readonly tasks: readonly KeptTask[];
  readonly jobs: readonly KeptJob[];
  readonly lines: readonly WorkerLine[];
}

/** Events of one kind. */
export const eventsOf = <Kind extends LedgerEvent["kind"]>(
  { events }: Pick<Evidence, "events">,
  kind: Kind,
): readonly Extract<LedgerEvent, { kind: Kind }>[] =>
  events.filter((event): event is Extract<LedgerEvent, { kind: Kind }> => event.kind === kind);

/** In lists by what `keyOf` says. */
export const groupBy = <Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};
