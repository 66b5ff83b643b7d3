import { expect, test } from "@jest/globals";
import { asExecutionRef, BridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, StepEntry } from "../../src/google/client.ts";
import { parseRef } from "../../src/mapping/execution-name.ts";
import { historyReader } from "../../src/questions/history-reader.ts";
import { callContext } from "../call-context.ts";

const place = parseRef(asExecutionRef("projects/p/locations/l/workflows/w/executions/e"));
const entry: StepEntry = { id: "1", routine: "main", step: "ask", type: "STEP_STD_LIB_CALL", variables: {} };

test("a history that is out of reach for a while is done without, and tried again", async () => {
  let now = 0;
  let isAway = true;
  let asked = 0;
  const complaints: unknown[] = [];
  const client: Pick<GcwClient, "stepsInProgress"> = {
    stepsInProgress: async () => {
      asked += 1;
      if (isAway) throw new BridgeError("unavailable", "away");
      return [entry];
    },
  };
  const read = historyReader(
    client,
    (error) => complaints.push(error),
    () => now,
  );
  const look = () => read(place, callContext());
  for (now = 0; now < 30_000; now += 10_000) await expect(look()).rejects.toMatchObject({ message: "away" });
  expect(await look()).toBeUndefined();
  expect(complaints).toHaveLength(1);
  const before = asked;
  now += 59_999;
  expect(await look()).toBeUndefined();
  expect(asked).toBe(before);
  now += 1;
  expect(await look()).toBeUndefined();
  isAway = false;
  now += 60_000;
  expect(await look()).toEqual([entry]);
  isAway = true;
  await expect(look()).rejects.toMatchObject({ message: "away" });
});

test.each(["denied", "unsupported"] as const)("a history that is %s is done without at once", async (code) => {
  const client = { stepsInProgress: () => Promise.reject(new BridgeError(code, "no")) };
  const read = historyReader(client, () => {});
  expect(await read(place, callContext())).toBeUndefined();
});
