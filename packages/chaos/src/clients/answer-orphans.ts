import type { Owner } from "../owner.ts";
import { extensionClient } from "./extension-client.ts";
import type { Ledger } from "./ledger.ts";
import type { TaskDriver } from "./task-driver.ts";
import { toFailure } from "./to-failure.ts";

/** A task that waits for an answer. */
export interface WaitingTask {
  readonly taskId: string;
  readonly owner: string;
}

export interface OrphanOptions {
  readonly url: string;
  readonly owners: readonly Owner[];
  readonly ledger: Ledger;
}

/**
 * Tasks whose client was never told of them wait for an answer that nobody gives: so their owner does, by another client.
 * What cannot be answered at present is left for the next time.
 */
export const answerOrphans = async (waiting: readonly WaitingTask[], options: OrphanOptions): Promise<void> => {
  for (const owner of options.owners) {
    const asking = waiting.filter((task) => task.owner === owner.name);
    if (asking.length === 0) continue;
    try {
      await answerOf(owner, asking, options);
    } catch (error) {
      options.ledger.add({ kind: "failed", wire: "2026-07-28", verb: "answer an orphan", failure: toFailure(error) });
    }
  }
};

const answerOf = async (
  owner: Owner,
  asking: readonly WaitingTask[],
  { url, ledger }: OrphanOptions,
): Promise<void> => {
  const headers = { authorization: `Bearer ${owner.token}` };
  const driver = await extensionClient.connect({
    url,
    headers,
    onAsk: () => ({ action: "accept", content: { token: "" } }),
  });
  try {
    for (const { taskId } of asking) await answerAll(driver, taskId, ledger);
  } finally {
    await driver.close();
  }
};

const answerAll = async (driver: TaskDriver, taskId: string, ledger: Ledger): Promise<void> => {
  for (const { key, message } of (await driver.poll(taskId)).questions) {
    const token = `orphan-${taskId}`;
    const call = /Publish (\S+) \?/.exec(message)?.[1] ?? message;
    ledger.add({ kind: "answering", call, token, sentAt: performance.now() });
    await driver.answer?.(taskId, key, { action: "accept", content: { token } });
    ledger.add({ kind: "answered", call, token, at: performance.now() });
  }
};
