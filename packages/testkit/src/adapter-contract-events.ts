import assert from "node:assert/strict";
import { type ExecutionRef, type ExecutionUpdate, isEnded, type StartKey } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, type Harness, type Listening, verb } from "./adapter-contract-harness.ts";

interface Begun {
  readonly key: StartKey;
  readonly ref: ExecutionRef;
}

const begin = async (harness: Harness, kind: "succeeds" | "fails"): Promise<Begun> => {
  const key = harness.key();
  const { ref } = await harness.start(kind, { key });
  return { key, ref };
};

const isAbout = (update: ExecutionUpdate, { key, ref }: Begun): boolean =>
  update.key === undefined ? update.ref === ref : update.key === key;

/** Waits for word of the end: an ended snapshot, or a hint after which a look tells it. */
const receivesEnd = (
  harness: Harness,
  listening: Listening,
  begun: Begun,
  status: "succeeded" | "failed",
): Promise<void> =>
  harness.until(`the end of an execution that ${status} is told`, async () => {
    const event = listening.updates.filter((update) => isAbout(update, begun));
    const reported = event.find((update) => update.snapshot !== undefined && isEnded(update.snapshot.status));
    if (reported !== undefined) {
      assert.equal(reported.snapshot?.status, status);
      return { result: undefined };
    }
    const hinted = event.some((update) => update.snapshot === undefined);
    if (!hinted || harness.adapter.inspect === undefined) return { seen: listening.updates };
    const outcome = await harness.inspectOne(begun.ref);
    return "snapshot" in outcome && outcome.snapshot.status === status ? { result: undefined } : { seen: outcome };
  });

/** A ref beside a key is one of that very execution: whoever has no ref yet takes it for good. The texts may differ while a ref evolves. */
const assertNamed = async (harness: Harness, updates: readonly ExecutionUpdate[], begun: Begun): Promise<void> => {
  const refs = updates.flatMap(({ key, ref }) => (key === begun.key && ref !== undefined ? [ref] : []));
  for (const ref of new Set(refs)) {
    if (ref === begun.ref) continue;
    assert.ok(
      harness.adapter.inspect,
      `news under the key of ${begun.ref} names ${ref}, and nobody can look which is so`,
    );
    assert.deepEqual(await harness.ended(ref), await harness.ended(begun.ref), `${ref} is another execution`);
  }
};

export const eventCases: readonly ContractCase[] = [
  {
    name: "tells those who watch how executions end",
    needs: ["watch"],
    run: async (harness) => {
      const listening = await harness.listen();
      const [good, bad] = await Promise.all([begin(harness, "succeeds"), begin(harness, "fails")]);
      await receivesEnd(harness, listening, good, "succeeded");
      await receivesEnd(harness, listening, bad, "failed");
      await assertNamed(harness, listening.updates, good);
      await assertNamed(harness, listening.updates, bad);
    },
  },
  {
    name: "tells what happened while nobody watched to those who resume",
    needs: ["watch", "resume", "inspect"],
    run: async (harness) => {
      const before = await harness.listen();
      await receivesEnd(harness, before, await begin(harness, "succeeds"), "succeeded");
      await before.close();
      assert.ok(before.cursor, "a source that can resume gives cursors");
      const missed = await begin(harness, "fails");
      await harness.ended(missed.ref);
      assert.ok(!before.updates.some((update) => isAbout(update, missed)), "a closed subscription tells nothing more");
      await receivesEnd(harness, await harness.listen(before.cursor), missed, "failed");
    },
  },
  {
    name: "closes a subscription twice",
    needs: ["watch"],
    run: async (harness) => {
      const listening = await harness.listen();
      await listening.close();
      await listening.close();
    },
  },
  {
    name: "reads a genuine webhook call, and refuses one without its signature",
    needs: ["receive"],
    run: async (harness) => {
      const begun = await begin(harness, "succeeds");
      const genuine = await verb(harness.underTest.webhook)(begun.key, begun.ref);
      const updates = await verb(harness.adapter.receive)(genuine, harness.context());
      assert.ok(
        updates.some((update) => isAbout(update, begun)),
        `no word about the execution in ${JSON.stringify(updates)}`,
      );
      await assertNamed(harness, updates, begun);
      await assertRejects(
        verb(harness.adapter.receive)({ ...genuine, headers: {}, query: {} }, harness.context()),
        "denied",
      );
    },
  },
];
