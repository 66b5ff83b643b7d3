import { loadScript } from "../redis/load-script.ts";
import type { Call, Command, RedisPort } from "../redis/redis-port.ts";
import { newestFirst } from "./index-entry.ts";

/** Walks the entries of an index, newest first. */
export interface IndexWalk {
  /** At most so many further ones; fewer, also none, only at the end. */
  next(count: number): Promise<readonly string[]>;
}

const pagesScript = loadScript("read-pages");

const bound = (below: string | undefined): string => (below === undefined ? "+" : `(${below}`);

const page = (set: string, below: string | undefined, count: number): Command =>
  below === undefined
    ? { call: ["zrevrange", set, 0, count - 1] }
    : { call: ["zrevrangebylex", set, bound(below), "-", "LIMIT", 0, count] };

/** Of one set. `below`: begins after this entry. */
export const walkSet = (port: RedisPort, call: Call, set: string, below: string | undefined): IndexWalk => {
  let last = below;
  return {
    next: async (count) => {
      const [entries] = (await port.send(call, [page(set, last, count)])) as [readonly string[]];
      last = entries.at(-1) ?? last;
      return entries;
    },
  };
};

/** One of several sets that are walked together. */
interface Strand {
  readonly set: string;
  /** Read and not yet told, newest first. */
  ahead: readonly string[];
  /** After which entry to read on. */
  last: string | undefined;
  isAtEnd: boolean;
}

/** So many standard deviations above its share a strand is asked for: of 256 hardly one has more to tell. */
const spread = 4;
/** Where the shares are so small that they are not spread like that. */
const surplus = 3;

/** Of many sets over which the entries are spread evenly, as one. */
export const walkSets = (
  port: RedisPort,
  call: Call,
  sets: readonly string[],
  below: string | undefined,
): IndexWalk => {
  const strands = sets.map((set): Strand => ({ set, ahead: [], last: below, isAtEnd: false }));

  /** Not only the strands that have run dry, or nearly each entry would cost a round trip. False when all are at their ends. */
  const readAhead = async (count: number): Promise<boolean> => {
    const share = count / sets.length;
    const each = Math.ceil(share + spread * Math.sqrt(share)) + surplus;
    const low = strands.filter(({ ahead, isAtEnd }) => ahead.length < each && !isAtEnd);
    if (low.length === 0) return false;
    const [pages] = (await port.send(call, [
      {
        forEach: pagesScript,
        locations: low.map(({ set, last }) => ({ keys: [set], args: [bound(last)] })),
        first: [each],
      },
    ])) as [readonly (readonly string[])[]];
    for (const [index, strand] of low.entries()) {
      const more = pages[index] ?? [];
      strand.ahead = [...strand.ahead, ...more];
      strand.last = more.at(-1) ?? strand.last;
      strand.isAtEnd = more.length < each;
    }
    return true;
  };

  return {
    next: async (count) => {
      const found: string[] = [];
      do found.push(...selectKnown(strands, count - found.length));
      while (found.length < count && (await readAhead(count - found.length)));
      return found;
    },
  };
};

/**
 * Takes the newest of what has been read, as far as no strand runs dry that may go on: what it has next may be newer than what
 * the others have.
 */
const selectKnown = (strands: readonly Strand[], count: number): readonly string[] => {
  const going = strands.filter(({ isAtEnd }) => !isAtEnd);
  if (going.some(({ ahead }) => ahead.length === 0)) return [];
  const [known] = going.flatMap(({ ahead }) => ahead.slice(-1)).sort(newestFirst);
  const isKnown = (entry: string): boolean => known === undefined || newestFirst(entry, known) <= 0;
  const ready = strands.flatMap(({ ahead }) => ahead.filter(isKnown)).sort(newestFirst);
  const returned = new Set(ready.slice(0, count));
  for (const strand of strands) strand.ahead = strand.ahead.filter((entry) => !returned.has(entry));
  return [...returned];
};
