import { expect, test } from "@jest/globals";
import { type Candidate, readingOrder } from "../../src/questions/reading-order.ts";

interface Named extends Candidate {
  readonly name: string;
}

const at = (name: string, location: string | undefined, more: Partial<Candidate> = {}): Named => ({
  name,
  location,
  hasMoved: true,
  isAsked: false,
  readAt: undefined,
  ...more,
});

const namesOf = (items: readonly Named[]): readonly string[] => items.map(({ name }) => name);

test("takes turns by place, and soon has those first where callbacks were open", () => {
  const order = readingOrder(() => 0);
  const items = [at("w1", "work"), at("w2", "work"), at("w3", "work"), at("a1", "approve"), at("a2", "approve")];
  expect(namesOf(order.sort(items))).toEqual(["w1", "a1", "w2", "a2", "w3"]);
  order.learn("work", false);
  order.learn("work", false);
  order.learn("approve", true);
  expect(namesOf(order.sort(items))).toEqual(["a1", "a2", "w1", "w2", "w3"]);
  const stays = { hasMoved: false, readAt: 0 } as const;
  expect(order.isUrgent(at("not asked yet", "approve", stays))).toBe(true);
  expect(order.isUrgent(at("asked", "approve", { ...stays, isAsked: true }))).toBe(false);
  expect([order.mayAsk("approve"), order.mayAsk("work")]).toEqual([true, false]);
});

test("has what has moved before what stays, unless that was read long ago", () => {
  const now = 600_000;
  const order = readingOrder(() => now);
  const stays = { hasMoved: false } as const;
  const items = [
    at("stays", "work", { ...stays, readAt: now - 2_000 }),
    at("stays for longer", "work", { ...stays, readAt: now - 20_000 }),
    at("moved", "work", { readAt: now - 1_000 }),
    at("nobody knows where", undefined),
    at("forgotten", "work", { ...stays, readAt: now - 300_000 }),
  ];
  expect(namesOf(order.sort(items))).toEqual(["forgotten", "moved", "nobody knows where", "stays for longer", "stays"]);
  expect(items.map(order.isUrgent)).toEqual([false, false, true, false, true]);
});
