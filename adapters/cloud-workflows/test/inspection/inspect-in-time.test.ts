import { expect, test } from "@jest/globals";
import { asExecutionRef } from "@taskbridge/core/adapter";
import type { Execution, GcwClient } from "../../src/google/client.ts";
import { quotasOf } from "../../src/google/quotas.ts";
import { inspectExecutions } from "../../src/inspection/inspect-executions.ts";
import { sweeps } from "../../src/inspection/sweeps.ts";
import { detailReader } from "../../src/questions/detail-reader.ts";
import { callContext } from "../call-context.ts";

const items = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    ref: asExecutionRef(`projects/p/locations/l/workflows/w/executions/e${index}`),
    want: "status" as const,
  }));

const ended = (name: string): Execution => ({ name, state: "SUCCEEDED", result: "1", steps: [], labels: {} });

const toolsOf = (client: Pick<GcwClient, "get" | "list">, share: number) => {
  const quotas = quotasOf(share);
  // No other call is made.
  const whole = client as GcwClient;
  const never = new AbortController().signal;
  return {
    client: whole,
    quotas,
    sweeps: sweeps(whole, quotas.list, never),
    stepLists: { want: () => {}, isFresh: () => false },
    details: detailReader(whole, quotas, {}),
    urlOf: () => undefined,
    listMs: 20,
    readMs: 500,
    detailsMs: 20,
  };
};

const countOf = (outcomes: readonly object[], member: string): number =>
  outcomes.filter((outcome) => member in outcome).length;

test("a list that hangs is not waited for: each is read by itself", async () => {
  const list = (): Promise<never> => new Promise(() => {});
  const tools = toolsOf({ list, get: async (name) => ended(name) }, 0.8);
  expect(countOf(await inspectExecutions(tools, items(20), callContext()), "snapshot")).toBe(20);
});

test("of more ends than the rate allows, those that were read are told, and no turn is lost", async () => {
  let reads = 0;
  const get = async (name: string): Promise<Execution> => {
    reads += 1;
    return ended(name);
  };
  const tools = toolsOf({ list: async () => ({ rows: [] }), get }, 0.1);
  const burst = tools.quotas.get.left();
  const outcomes = await inspectExecutions(tools, items(500), callContext());
  expect(countOf(outcomes, "snapshot")).toBe(reads);
  expect(countOf(outcomes, "unavailable")).toBe(500 - reads);
  expect(reads).toBeGreaterThanOrEqual(burst);
  // Some come in turn: far less than the minute that all would take.
  expect(reads).toBeLessThan(burst + 100);
});
