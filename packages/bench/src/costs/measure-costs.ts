import { type CostCase, costCases } from "./cost-cases.ts";
import { type FleetCalls, openFleet } from "./fleet.ts";

/** How many calls something costs. */
export interface CostFigures extends FleetCalls {
  readonly name: string;
}

/** Counts the calls of one case. */
export const countCalls = async ({ name, fleet: options, given, when }: CostCase): Promise<CostFigures> => {
  const fleet = await openFleet(options);
  try {
    const taskId = (await given?.(fleet)) ?? "";
    fleet.take();
    await when(fleet, taskId);
    return { name, ...fleet.take() };
  } finally {
    await fleet.close();
  }
};

/** Counts the calls of every case, one after the other. Takes no time: the clock is not the machine's. */
export const measureCosts = async (): Promise<readonly CostFigures[]> => {
  const figures: CostFigures[] = [];
  for (const costCase of costCases) figures.push(await countCalls(costCase));
  return figures;
};
