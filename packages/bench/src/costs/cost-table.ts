import { toTable } from "../tables.ts";
import type { Calls } from "./count-calls.ts";
import type { CostFigures } from "./measure-costs.ts";

const toText = (calls: Calls): string =>
  Object.entries(calls)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([verb, count]) => `${count} ${verb}`)
    .join(", ");

/** For people: what was counted of each case. */
export const toCostTable = (figures: readonly CostFigures[]): string =>
  toTable(
    ["", "the server's store calls", "the other servers'", "calls to the backend"],
    figures.map(({ name, store, others, backend }) => [name, toText(store), toText(others), toText(backend)]),
  );
