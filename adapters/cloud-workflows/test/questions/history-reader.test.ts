import { expect, test } from "@jest/globals";
import { asExecutionRef, BridgeError } from "@taskbridge/core/adapter";
import type { GcwClient, StepEntry } from "../../src/google/client.ts";
import { parseRef } from "../../src/mapping/execution-name.ts";
import { historyReader } from "../../src/questions/history-reader.ts";
import { callContext } from "../call-context.ts";

const location = parseRef(asExecutionRef("projects/p/locations/l/workflows/w/executions/e"));
const entry: StepEntry = { id: "1", routine: "main", step: "ask", type: "STEP_STD_LIB_CALL", variables: {} };

test("a history that is out of reach for a while is done without, and tried again", async () => {
  let now = 0;
  let isUnavailable = true;
  let asked = 0;
  const complaints: unknown[] = [];
  const client: Pick<GcwClient, "stepsInProgress"> = {
    stepsInProgress: async () => {
      asked += 1;
      if (isUnavailable) throw new BridgeError("unavailable", "away");
      return [entry];
    },
  };
  const read = historyReader(
    client,
    (error) => complaints.push(error),
    () => now,
  );
  const inspect = () => read(location, callContext());
  for (now = 0; now < 30_000; now += 10_000) await expect(inspect()).rejects.toMatchObject({ message: "away" });
  expect(await inspect()).toBeUndefined();
  expect(complaints).toHaveLength(1);
  const before = asked;
  now += 59_999;
  expect(await inspect()).toBeUndefined();
  expect(asked).toBe(before);
  now += 1;
  expect(await inspect()).toBeUndefined();
  isUnavailable = false;
  now += 60_000;
  expect(await inspect()).toEqual([entry]);
  isUnavailable = true;
  await expect(inspect()).rejects.toMatchObject({ message: "away" });
});

test.each(["denied", "unsupported"] as const)("a history that is %s is done without at once", async (code) => {
  const client = { stepsInProgress: () => Promise.reject(new BridgeError(code, "no")) };
  const read = historyReader(client, () => {});
  expect(await read(location, callContext())).toBeUndefined();
});
