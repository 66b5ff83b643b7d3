import { expect, test } from "@jest/globals";
import { asExecutionRef } from "@taskbridge/core/adapter";
import type { GcwClient, Step } from "../../src/google/client.ts";
import { quotasOf } from "../../src/google/quotas.ts";
import { parseRef } from "../../src/mapping/execution-name.ts";
import { detailReader } from "../../src/questions/detail-reader.ts";
import { callContext } from "../call-context.ts";

const locations = Array.from({ length: 10 }, (_, index) =>
  parseRef(asExecutionRef(`projects/p/locations/l/workflows/w/executions/e${index}`)),
);
const items = locations.map((location) => ({ location, steps: undefined, argument: undefined }));
const [mover = locations[0], ...others] = locations;
const at = (step: string): readonly Step[] => [{ routine: "main", step }];

test("reads again at once what has moved, even while it was read, and of many nothing else", async () => {
  const read: string[] = [];
  let onRead = (_name: string): void => {};
  const callbacks: GcwClient["callbacks"] = async (name) => {
    read.push(name);
    onRead(name);
    return [];
  };
  const client = { callbacks, stepsInProgress: async () => undefined };
  // No other call is made.
  const reader = detailReader(client as unknown as GcwClient, quotasOf(0.8), {});
  for (const { name } of locations) reader.note(name, at("work"));
  onRead = (name) => {
    if (name === mover?.name) reader.note(name, at("approve"));
  };
  expect((await reader.read(items, callContext())).size).toBe(10);
  expect(read.toSorted()).toEqual(locations.map(({ name }) => name).toSorted());
  read.length = 0;
  onRead = () => {};
  await reader.read(items, callContext());
  expect(read).toEqual([mover?.name]);
  const [next] = others;
  expect(reader.progressOf(next?.name ?? "")).toEqual({ message: "work" });
  reader.note(next?.name ?? "", at("approve"));
  expect(reader.progressOf(next?.name ?? "")).toEqual({ message: "approve" });
  read.length = 0;
  await reader.read(items, callContext());
  expect(read).toEqual([next?.name]);
});
