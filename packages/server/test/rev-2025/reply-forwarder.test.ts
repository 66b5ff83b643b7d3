import { expect, test } from "@jest/globals";
import type { ServeContext } from "../../src/mcp/serve-context.ts";
import type { Reply } from "../../src/replica-mailbox.ts";
import { createReplyForwarder } from "../../src/rev-2025/reply-forwarder.ts";
import { silentLog } from "../../src/server-log.ts";
import type { Session2025 } from "../../src/session/session-2025.ts";

const hourMs = 3_600_000;

test.each([
  [23 * hourMs, 1],
  [25 * hourMs, 0],
])("of a reply to what another replica asked %d ms ago, %d letter is sent", async (age, count) => {
  const sent: Reply[] = [];
  const warnings: unknown[] = [];
  const asking = new Set<Promise<unknown>>();
  const serve = {
    storeNow: () => age,
    mailbox: { send: async (_to: string, reply: Reply) => void sent.push(reply) },
    log: { ...silentLog, warn: (...warning: unknown[]) => void warnings.push(warning) },
    asking,
  } as unknown as ServeContext;
  const session = { name: "session", capabilities: () => ({}) } as unknown as Session2025;
  const response = { id: "one", result: {} };
  const words = createReplyForwarder({ serve, session, owner: null });
  words.read([], [{ from: "another", askedAt: 0, response }])();
  await Promise.all(asking);
  expect(sent).toEqual(count === 0 ? [] : [{ id: "one", message: response, sender: "session" }]);
  expect(warnings).toHaveLength(1 - count);
});
