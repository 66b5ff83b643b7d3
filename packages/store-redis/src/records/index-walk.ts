import { type Call, type Command, type RedisPort, script } from "../redis/redis-port.ts";
import { newestFirst } from "./index-entry.ts";

/** Walks the entries of an index, newest first. */
export interface IndexWalk {
  /** At most so many further ones; fewer, also none, only at the end. */
  next(count: number): Promise<readonly string[]>;
}

/** Pages of sets. KEYS: those. ARGV: how many entries of each, then below what for each. */
const pagesScript = script(`
local pages = {}
for i, set in ipairs(KEYS) do
  pages[i] = redis.call("ZREVRANGEBYLEX", set, ARGV[i + 1], "-", "LIMIT", 0, ARGV[1])
end
return pages
`);

const bound = (below: string | undefined): string => (below === undefined ? "+" : `(${below}`);

const page = (set: string, below: string | undefined, count: number): Command => ({
  call: ["zrevrangebylex", set, bound(below), "-", "LIMIT", 0, count],
});

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

/** More than an even spread asks of each, so that a second read is seldom needed. */
const surplus = 2;

/** Of many sets over which the entries are spread evenly, as one. */
export const walkSets = (
  port: RedisPort,
  call: Call,
  sets: readonly string[],
  below: string | undefined,
): IndexWalk => {
  const strands = sets.map((set): Strand => ({ set, ahead: [], last: below, isAtEnd: false }));

  const readAhead = async (count: number): Promise<void> => {
    const dry = strands.filter(({ ahead, isAtEnd }) => ahead.length === 0 && !isAtEnd);
    if (dry.length === 0) return;
    const each = Math.ceil(count / sets.length) + surplus;
    const [pages] = (await port.send(call, [
      {
        forEach: pagesScript,
        places: dry.map(({ set, last }) => ({ keys: [set], args: [bound(last)] })),
        first: [each],
      },
    ])) as [readonly (readonly string[])[]];
    for (const [index, strand] of dry.entries()) {
      strand.ahead = pages[index] ?? [];
      strand.last = strand.ahead.at(-1) ?? strand.last;
      strand.isAtEnd = strand.ahead.length < each;
    }
  };

  return {
    next: async (count) => {
      const found: string[] = [];
      while (found.length < count) {
        await readAhead(count - found.length);
        const wet = strands.filter(({ ahead }) => ahead.length > 0);
        if (wet.length === 0) break;
        // As far as no strand runs dry that may go on: what it has next may be newer than what the others have.
        const known = wet
          .filter(({ isAtEnd }) => !isAtEnd)
          .flatMap(({ ahead }) => ahead.slice(-1))
          .sort(newestFirst)[0];
        const isKnown = (entry: string): boolean => known === undefined || newestFirst(entry, known) <= 0;
        const ready = wet.flatMap(({ ahead }) => ahead.filter(isKnown)).sort(newestFirst);
        const told = new Set(ready.slice(0, count - found.length));
        for (const strand of wet) strand.ahead = strand.ahead.filter((entry) => !told.has(entry));
        found.push(...told);
      }
      return found;
    },
  };
};
