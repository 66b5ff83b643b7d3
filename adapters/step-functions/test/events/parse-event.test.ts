import { readFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { parseEvent } from "../../src/events/parse-event.ts";

interface Sample {
  readonly name: string;
  readonly body: unknown;
  readonly reported: object | "foreign" | "unreadable";
  readonly isRedrive?: true;
}

const samples: readonly Sample[] = JSON.parse(
  readFileSync(new URL("../fixtures/events.json", import.meta.url), "utf8"),
);

it.each(samples)("reads $name", ({ body, reported, isRedrive = false }) => {
  const event = parseEvent(JSON.stringify(body));
  if (typeof reported === "string" || typeof event === "string") {
    expect(event).toBe(reported);
    return;
  }
  // By its ARN alone: another machine may have an execution of the same name.
  const ref = "arn:aws:states:eu-west-1:111122223333:execution:orders:mcp-0123456789abcdef0123456789abcdef";
  expect(event.update).toEqual({ ...reported, ref });
  expect(event.isRedrive).toBe(isRedrive);
});

it("takes no garbage", () => {
  for (const body of ["", "x", "null", "7", '{"source":"aws.states","detail":{}}'])
    expect(parseEvent(body)).toBe("unreadable");
});
