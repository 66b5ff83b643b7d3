import assert from "node:assert/strict";
import { type ExecutionRef, type ExecutionUpdate, isEnded, type StartKey } from "@taskbridge/core/adapter";
import type { ContractCase } from "./adapter-contract-case.ts";
import { assertRejects, type Listening, type Stage, verb } from "./adapter-contract-stage.ts";

interface Begun {
  readonly key: StartKey;
  readonly ref: ExecutionRef;
}

const begin = async (stage: Stage, kind: "succeeds" | "fails"): Promise<Begun> => {
  const key = stage.key();
  const { ref } = await stage.start(kind, { key });
  return { key, ref };
};

const isAbout = (update: ExecutionUpdate, { key, ref }: Begun): boolean =>
  update.key === undefined ? update.ref === ref : update.key === key;

/** Waits for word of the end: an ended snapshot, or a hint after which a look tells it. */
const hearsEnd = (stage: Stage, listening: Listening, begun: Begun, status: "succeeded" | "failed"): Promise<void> =>
  stage.until(`the end of an execution that ${status} is told`, async () => {
    const news = listening.updates.filter((update) => isAbout(update, begun));
    const told = news.find((update) => update.snapshot !== undefined && isEnded(update.snapshot.status));
    if (told !== undefined) {
      assert.equal(told.snapshot?.status, status);
      return { result: undefined };
    }
    const hinted = news.some((update) => update.snapshot === undefined);
    if (!hinted || stage.adapter.inspect === undefined) return { seen: listening.updates };
    const outcome = await stage.look(begun.ref);
    return "snapshot" in outcome && outcome.snapshot.status === status ? { result: undefined } : { seen: outcome };
  });

/** A ref beside a key is one of that very execution: whoever has no ref yet takes it for good. The texts may differ while a ref evolves. */
const assertNamed = async (stage: Stage, updates: readonly ExecutionUpdate[], begun: Begun): Promise<void> => {
  const refs = updates.flatMap(({ key, ref }) => (key === begun.key && ref !== undefined ? [ref] : []));
  for (const ref of new Set(refs)) {
    if (ref === begun.ref) continue;
    assert.ok(
      stage.adapter.inspect,
      `news under the key of ${begun.ref} names ${ref}, and nobody can look which is so`,
    );
    assert.deepEqual(await stage.ended(ref), await stage.ended(begun.ref), `${ref} is another execution`);
  }
};

export const eventCases: readonly ContractCase[] = [
  {
    name: "tells those who watch how executions end",
    needs: ["watch"],
    run: async (stage) => {
      const listening = await stage.listen();
      const [good, bad] = await Promise.all([begin(stage, "succeeds"), begin(stage, "fails")]);
      await hearsEnd(stage, listening, good, "succeeded");
      await hearsEnd(stage, listening, bad, "failed");
      await assertNamed(stage, listening.updates, good);
      await assertNamed(stage, listening.updates, bad);
    },
  },
  {
    name: "tells what happened while nobody watched to those who resume",
    needs: ["watch", "resume", "inspect"],
    run: async (stage) => {
      const before = await stage.listen();
      await hearsEnd(stage, before, await begin(stage, "succeeds"), "succeeded");
      await before.close();
      assert.ok(before.cursor, "a source that can resume gives cursors");
      const missed = await begin(stage, "fails");
      await stage.ended(missed.ref);
      assert.ok(!before.updates.some((update) => isAbout(update, missed)), "a closed subscription tells nothing more");
      await hearsEnd(stage, await stage.listen(before.cursor), missed, "failed");
    },
  },
  {
    name: "closes a subscription twice",
    needs: ["watch"],
    run: async (stage) => {
      const listening = await stage.listen();
      await listening.close();
      await listening.close();
    },
  },
  {
    name: "reads a genuine webhook call, and refuses one without its signature",
    needs: ["receive"],
    run: async (stage) => {
      const begun = await begin(stage, "succeeds");
      const genuine = await verb(stage.underTest.webhook)(begun.key, begun.ref);
      const updates = await verb(stage.adapter.receive)(genuine, stage.context());
      assert.ok(
        updates.some((update) => isAbout(update, begun)),
        `no word about the execution in ${JSON.stringify(updates)}`,
      );
      await assertNamed(stage, updates, begun);
      await assertRejects(
        verb(stage.adapter.receive)({ ...genuine, headers: {}, query: {} }, stage.context()),
        "denied",
      );
    },
  },
];
