import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { parseEvent } from "../../src/events/parse-event.ts";

interface Sample {
  readonly name: string;
  readonly body: unknown;
  readonly told: object | "foreign" | "unreadable";
  readonly isRedrive?: true;
}

const samples: readonly Sample[] = JSON.parse(
  readFileSync(new URL("../fixtures/events.json", import.meta.url), "utf8"),
);

it.each(samples)("reads $name", ({ body, told, isRedrive = false }) => {
  const event = parseEvent(JSON.stringify(body));
  if (typeof told === "string" || typeof event === "string") {
    expect(event).toBe(told);
    return;
  }
  expect(event.update).toEqual({ ...told, ref: event.place.arn });
  expect(event.isRedrive).toBe(isRedrive);
});

it("takes no garbage", () => {
  for (const body of ["", "x", "null", "7", '{"source":"aws.states","detail":{}}'])
    expect(parseEvent(body)).toBe("unreadable");
});
