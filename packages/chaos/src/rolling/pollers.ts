// The clients that poll, in a process of their own: see `PollersMessage`.
import { setTimeout as pause } from "node:timers/promises";
import { extensionClient } from "../clients/extension-client.ts";
import type { PollersMessage, PollersOptions } from "./open-pollers.ts";
import { noPolls, pollOn } from "./poll-on.ts";

const polls = noPolls();
const over = new AbortController();

const poll = async ({ url, headers, tasks, clients, pollsPerSecond }: PollersOptions): Promise<void> => {
  const polling = Array.from({ length: clients }, async (_, index) => {
    await pause((index * 1_000) / pollsPerSecond);
    await pollOn({
      connect: () =>
        extensionClient.connect({ url, headers, onAsk: () => ({ action: "accept", content: { token: "" } }) }),
      tasks,
      everyMs: (clients * 1_000) / pollsPerSecond,
      polls,
      signal: over.signal,
    });
  });
  await Promise.all(polling);
  process.send?.(polls, () => process.disconnect());
};

process.on("message", (message: PollersMessage) => {
  if (message === "stop") over.abort();
  else if (message === "count") {
    polls.answered = 0;
    polls.durationMs.length = 0;
  } else void poll(message);
});
// Whoever has started them is gone, or has got what it waits for.
process.once("disconnect", () => process.exit());
