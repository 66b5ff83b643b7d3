import { performance } from "node:perf_hooks";
import { asTaskId, type TaskId, type TaskRecord } from "@taskbridge/core/store";
import { type Keys, shards } from "../keys.ts";
import { loadScript } from "../redis/load-script.ts";
import type { Call, Command, Reply } from "../redis/redis-port.ts";
import type { StoreContext } from "../store-context.ts";
import { parseRecord } from "./stored-record.ts";

// Scores go through scripts, which write numbers as texts for any client: what a client makes of them depends on its protocol.
const candidatesScript = loadScript("due-candidates");
const claimScript = loadScript("claim-record");
const firstScript = loadScript("first-wake");
const hintsScript = loadScript("wake-hints");
const raiseScript = loadScript("raise-hint");
const tendScript = loadScript("tend-shards");

/**
 * Who is due when. Each shard has a sorted set of its tasks by `wakeAt`, written with the record. So that nobody has to look at all
 * 256 for one that is due, one small set has for each shard a time that is not after its earliest. It is lowered after a record is
 * written, and raised by who finds it too low, who then looks at the shard once more: whatever order two such come in, it ends low
 * enough. Only a process that dies right after it has written a record leaves it too high, until `tend` has passed by.
 */
export interface DueRecords {
  due(call: Call, limit: number, claimForMs: number | undefined): Promise<readonly TaskRecord[]>;
  nextWakeAt(call: Call): Promise<number | null>;
}

interface Hint {
  readonly shard: string;
  readonly at: number;
}

interface Candidate {
  readonly taskId: TaskId;
  readonly at: number;
}

/** What is looked for: what is due at a time, so many at most, and whether without what is claimed. */
interface Ask {
  readonly at: number;
  readonly limit: number;
  readonly isClaiming: boolean;
}

/** What a shard has told. */
interface ShardAnswer {
  readonly hint: Hint;
  /** Its earliest wake-up, claimed or not; undefined when it has none. */
  readonly first: number | undefined;
  readonly candidates: readonly Candidate[];
  /** It may have more. */
  readonly isCut: boolean;
}

const earliest = (answers: readonly ShardAnswer[], limit: number): readonly Candidate[] =>
  answers
    .flatMap(({ candidates }) => candidates)
    .sort((a, b) => a.at - b.at)
    .slice(0, limit);

/** How often each process looks at all shards (milliseconds). */
const tendEveryMs = 20_000;
/** So many shards at least are asked in one round trip. */
const minShards = 16;
/** Each is asked for as many records at least: what is due at one time is spread unevenly. */
const minShare = 4;
/** So many shards are asked for the earliest wake-up of all: nearly always the first has it. */
const shardsForNext = 4;
/** Others may claim what we are about to. */
const maxTries = 3;

export const createDueRecords = (context: StoreContext): DueRecords => {
  const { port, keys, now } = context;
  let tendedAt = Number.NEGATIVE_INFINITY;

  const lower = ({ shard, at }: Hint): Command => toLowering(keys, shard, at);

  /** Puts right what a process that died has left, and clears away what has lapsed. */
  const tend = async (call: Call): Promise<void> => {
    if (performance.now() - tendedAt < tendEveryMs) return;
    tendedAt = performance.now();
    try {
      const locations = shards.map((shard) => {
        const { due, lapsing, aborted, removed } = keys.shard(shard);
        return { keys: [due, lapsing, aborted, removed], args: [] };
      });
      const [firsts] = (await port.send(call, [{ forEach: tendScript, locations, first: [now()] }])) as [
        readonly Reply[],
      ];
      const hints = await readHints(call, "+inf", shards.length);
      const known = new Map(hints.map(({ shard, at }) => [shard, at]));
      const missed = shards.flatMap((shard, index): Hint[] => {
        const first = firsts[index];
        const isLate = typeof first === "string" && Number(first) < (known.get(shard) ?? Number.POSITIVE_INFINITY);
        return isLate ? [{ shard, at: Number(first) }] : [];
      });
      await port.send(call, missed.map(lower));
    } catch (error) {
      tendedAt = Number.NEGATIVE_INFINITY;
      throw error;
    }
  };

  const readHints = async (call: Call, until: number | "+inf", count: number): Promise<Hint[]> => {
    const [flat] = (await port.send(call, [{ script: hintsScript, keys: [keys.wakeHints], args: [until, count] }])) as [
      readonly string[],
    ];
    return pairsOf(flat).map(([shard, at]) => ({ shard, at }));
  };

  /** For hints that are lower than they need be. `first`: the shard's earliest wake-up. */
  const raise = async (call: Call, low: readonly (Hint & { readonly first: number | undefined })[]): Promise<void> => {
    if (low.length === 0) return;
    const firsts = await port.send(
      call,
      low.map(({ shard, at, first }) => ({
        script: raiseScript,
        keys: [keys.wakeHints],
        args: [shard, at, first ?? ""],
      })),
      low.map(({ shard }) => ({ script: firstScript, keys: [keys.shard(shard).due], args: [] })),
    );
    const missed = low.flatMap(({ shard, first }, index): Hint[] => {
      const at = firsts[low.length + index];
      return typeof at === "string" && Number(at) < (first ?? Number.POSITIVE_INFINITY)
        ? [{ shard, at: Number(at) }]
        : [];
    });
    await port.send(call, missed.map(lower));
  };

  /** The earliest of what is due in some shards, at most `maximum` of each. */
  const askShards = async (call: Call, asked: readonly Hint[], maximum: number, ask: Ask): Promise<ShardAnswer[]> => {
    const replies = (await port.send(
      call,
      asked.map(({ shard }) => {
        const { due, claims } = keys.shard(shard);
        return { script: candidatesScript, keys: [due, claims], args: [ask.at, maximum, ask.isClaiming ? 1 : 0] };
      }),
    )) as (readonly string[])[];
    return asked.map((hint, index) => {
      const [first = "", ...flat] = replies[index] ?? [];
      const candidates = pairsOf(flat).map(([taskId, at]) => ({ taskId: asTaskId(taskId), at }));
      return { hint, first: first === "" ? undefined : Number(first), candidates, isCut: candidates.length >= maximum };
    });
  };

  /**
   * The earliest of what is due in some shards, at most `limit` in all. Each shard is asked for its share first, and once more for all that it can have where
   * what is left of it may be earlier than others'.
   */
  const askForEarliest = async (call: Call, asked: readonly Hint[], ask: Ask): Promise<ShardAnswer[]> => {
    const { limit } = ask;
    const share = Math.min(limit, Math.max(minShare, Math.ceil((2 * limit) / asked.length)));
    const answers = await askShards(call, asked, share, ask);
    const last = earliest(answers, limit)[limit - 1]?.at ?? Number.POSITIVE_INFINITY;
    const isShort = ({ isCut, candidates }: ShardAnswer): boolean => isCut && (candidates.at(-1)?.at ?? last) < last;
    if (share === limit || !answers.some(isShort)) return answers;
    const again = answers.filter(isShort).map(({ hint }) => hint);
    return [...answers.filter((answer) => !isShort(answer)), ...(await askShards(call, again, limit, ask))];
  };

  /** The earliest of what is due, at most `limit`. */
  const findCandidates = async (call: Call, limit: number, isClaiming: boolean): Promise<readonly Candidate[]> => {
    const ask: Ask = { at: now(), limit, isClaiming };
    const hints = await readHints(call, ask.at, shards.length);
    const answers: ShardAnswer[] = [];
    let found: readonly Candidate[] = [];
    const step = Math.max(limit, minShards);
    for (let next = 0; next < hints.length; next += step) {
      // What is earliest of all lies in the shards whose own earliest is.
      if (found.length >= limit && (found[limit - 1]?.at ?? 0) <= (hints[next]?.at ?? 0)) break;
      answers.push(...(await askForEarliest(call, hints.slice(next, next + step), ask)));
      found = earliest(answers, limit);
    }
    const isLow = ({ hint, first }: ShardAnswer): boolean => first === undefined || first > hint.at;
    await raise(
      call,
      answers.filter(isLow).map(({ hint, first }) => ({ ...hint, first })),
    );
    return found;
  };

  const toRead = (taskId: TaskId, claimForMs: number | undefined): Command => {
    const { due, claims } = keys.shardOf(taskId);
    const record = keys.record(taskId);
    return claimForMs === undefined
      ? { call: ["get", record] }
      : { script: claimScript, keys: [record, due, claims], args: [taskId, now(), claimForMs] };
  };

  return {
    due: async (call, limit, claimForMs) => {
      await tend(call);
      for (let tries = 1; ; tries++) {
        const candidates = await findCandidates(call, limit, claimForMs !== undefined);
        const replies = await port.send(
          call,
          candidates.map(({ taskId }) => toRead(taskId, claimForMs)),
        );
        const records = replies.flatMap((text) => (typeof text === "string" ? [parseRecord(text)] : []));
        if (records.length > 0 || candidates.length === 0 || tries === maxTries) return records;
      }
    },

    nextWakeAt: async (call) => {
      await tend(call);
      for (;;) {
        const hints = await readHints(call, "+inf", shardsForNext);
        const firsts = await port.send(
          call,
          hints.map(({ shard }) => ({ script: firstScript, keys: [keys.shard(shard).due], args: [] })),
        );
        const known = hints.map((hint, index) => ({
          ...hint,
          first: typeof firsts[index] === "string" ? Number(firsts[index]) : undefined,
        }));
        await raise(
          call,
          known.filter(({ at, first }) => first === undefined || first > at),
        );
        const first = Math.min(...known.map((one) => one.first ?? Number.POSITIVE_INFINITY));
        const isAll = hints.length < shardsForNext;
        // What the other shards have is not before the last of these hints.
        if (isAll || first <= (hints.at(-1)?.at ?? 0)) return Number.isFinite(first) ? first : null;
      }
    },
  };
};

const toLowering = (keys: Keys, shard: string, at: number): Command => ({
  call: ["zadd", keys.wakeHints, "LT", at, shard],
});

/** To be sent after a record is written. */
export const hintOf = (keys: Keys, { taskId, wakeAt }: Pick<TaskRecord, "taskId" | "wakeAt">): Command[] =>
  wakeAt === null ? [] : [toLowering(keys, keys.shardOf(taskId).id, wakeAt)];

const pairsOf = (flat: readonly string[]): [text: string, value: number][] =>
  flat.flatMap((text, index): [string, number][] => (index % 2 === 0 ? [[text, Number(flat[index + 1])]] : []));
