import { expect, it } from "@jest/globals";
import { sentStarts } from "../src/sent-starts.ts";

it("knows the first send of what it has seen from the first attempt on", () => {
  const sent = sentStarts();
  expect(sent.firstSend("a", 1)).toBe("none");
  // Refused before it left.
  expect(sent.firstSend("a", 2)).toBe("none");
  sent.note("a", 100);
  sent.note("a", 200);
  expect(sent.firstSend("a", 3)).toEqual({ at: 100 });
  sent.takeBack("a", 200);
  expect(sent.firstSend("a", 4)).toEqual({ at: 100 });
  sent.takeBack("a", 100);
  expect(sent.firstSend("a", 5)).toBe("none");
});

it("does not know what another process has sent, whatever it sends itself", () => {
  const sent = sentStarts();
  expect(sent.firstSend("a", 2)).toBe("unknown");
  sent.note("a", 100);
  expect(sent.firstSend("a", 3)).toBe("unknown");
});

it("forgets the oldest, and knows that it has", () => {
  const sent = sentStarts();
  for (let count = 0; count <= 10_000; count++) sent.firstSend(`k${count}`, 1);
  expect(sent.firstSend("k0", 2)).toBe("unknown");
  expect(sent.firstSend("k1", 2)).toBe("none");
});
