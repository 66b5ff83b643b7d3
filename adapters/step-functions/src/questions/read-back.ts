import type { HistoryEvent, SfnClient } from "../aws/client.ts";

/** AWS gives so many events at most. */
export const pageSize = 1_000;

/** Pages of a history from the newest event back to `afterId`. Undefined when they might not be read to the end. */
export const readBack = async (
  client: SfnClient,
  arn: string,
  afterId: number,
  take: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<readonly HistoryEvent[] | undefined> => {
  const events: HistoryEvent[] = [];
  let token: string | undefined;
  do {
    if (!(await take())) return undefined;
    const page = await client.history(arn, { size: pageSize, token }, signal);
    events.push(...page.rows);
    token = page.next;
  } while (token !== undefined && !events.some(({ id }) => id <= afterId + 1));
  return events;
};
