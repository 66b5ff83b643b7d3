import { performance } from "node:perf_hooks";
import { expect, it } from "@jest/globals";
import { asTaskId } from "@taskbridge/core/store";
import { type ChangePublisher, createChangePublisher } from "../../src/changes/change-publisher.ts";

/** A teller, and what it has sent: each message waits until it is answered. */
const createPublisher = (): { teller: ChangePublisher; sent: { message: string; answer(error?: Error): void }[] } => {
  const sent: { message: string; answer(error?: Error): void }[] = [];
  const publisher = createChangePublisher({
    channel: "changes",
    origin: "me",
    startCall: (operation) => ({ operation, isDurable: false, endsAt: performance.now() + 5000 }),
    port: {
      send: (_call, [command] = []) =>
        new Promise((resolve, reject) => {
          const message = command !== undefined && "call" in command ? String(command.call[2]) : "";
          sent.push({ message, answer: (error) => (error === undefined ? resolve([0]) : reject(error)) });
        }),
    },
  });
  return { teller: publisher, sent };
};

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const [one, two] = [asTaskId("one"), asTaskId("two")];

it("a teller that is closed tells first what is still to be told", async () => {
  const { teller: publisher, sent } = createPublisher();
  publisher.announce(one);
  await nextTurn();
  publisher.announce(two);
  const closing = publisher.close();
  sent[0]?.answer();
  await nextTurn();
  sent[1]?.answer();
  await closing;
  publisher.announce(one);
  await nextTurn();
  expect(sent.map(({ message }) => message)).toEqual(['["me","one"]', '["me","two"]']);
});

it("a teller that is closed in the turn of a change tells it", async () => {
  const { teller: publisher, sent } = createPublisher();
  publisher.announce(one);
  const closing = publisher.close();
  await nextTurn();
  sent[0]?.answer();
  await closing;
  expect(sent.map(({ message }) => message)).toEqual(['["me","one"]']);
});

it("a teller that is closed while nothing can be told ends with that", async () => {
  const { teller: publisher, sent } = createPublisher();
  publisher.announce(one);
  await nextTurn();
  publisher.announce(two);
  const closing = publisher.close();
  sent[0]?.answer(new Error("away"));
  await closing;
  expect(sent.map(({ message }) => message)).toEqual(['["me","one"]']);
});
