import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { PipelineDescription } from "@taskbridge/core/adapter";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import { discoverMachines } from "../../src/operator/discover-machines.ts";
import { callContext } from "../call-context.ts";
import { type Facade, startFacade } from "../facade/facade.ts";
import "../aws-environment.ts";

let facade: Facade;
beforeEach(async () => {
  facade = await startFacade();
  facade.machine(
    "orders-pack",
    { steps: [] },
    {
      description: "Packs an order.",
      tags: { "taskbridge:input": "order:string express:boolean:optional", team: "shop" },
    },
  );
  facade.machine(
    "orders-send",
    { steps: [] },
    { tags: { "taskbridge:description": "Sends an order.", "taskbridge:input": "{}" } },
  );
  facade.machine("reports", { steps: [] }, { tags: { team: "finance" } });
  facade.machine("quick", { steps: [] }, { type: "EXPRESS" });
});
afterEach(() => facade.close());

const discover = async (filter?: string, context = callContext()): Promise<readonly PipelineDescription<unknown>[]> => {
  const client = sfnClient({
    region: "eu-west-1",
    endpoint: facade.endpoint,
    profile: undefined,
    client: undefined,
  });
  const found: PipelineDescription<unknown>[] = [];
  for await (const one of discoverMachines(client, "standard", filter, context, async () => {})) found.push(one);
  client.close();
  return found;
};

it("describes machines by their descriptions and tags", async () => {
  const found = await discover();
  expect(found.map(({ name }) => name).sort()).toEqual(["orders-pack", "orders-send", "reports"]);
  expect(found.find(({ name }) => name === "orders-pack")).toEqual({
    name: "orders-pack",
    description: "Packs an order.",
    target: { stateMachine: "arn:aws:states:eu-west-1:123456789012:stateMachine:orders-pack" },
    input: {
      type: "object",
      properties: { order: { type: "string" }, express: { type: "boolean" } },
      required: ["order"],
    },
  });
  expect(found.find(({ name }) => name === "orders-send")).toMatchObject({
    description: expect.stringMatching(/^Sends an order\. .*taskbridge:input is not/),
    input: { type: "object" },
  });
});

it.each([
  ["orders-", ["orders-pack", "orders-send"]],
  ["tag:team", ["orders-pack", "reports"]],
  ["tag:team=shop", ["orders-pack"]],
  ["nothing", []],
])("filters by %s", async (filter, names) => {
  expect((await discover(filter)).map(({ name }) => name).sort()).toEqual(names);
});

it("reads all pages, and waits where AWS limits the rate", async () => {
  for (let index = 0; index < 1_100; index++) facade.machine(`many-${index}`, { steps: [] }, { type: "EXPRESS" });
  let refusals = 0;
  facade.setFaults({ throttles: (action) => action === "ListTagsForResource" && refusals++ < 2 });
  expect(await discover()).toHaveLength(3);
  expect(facade.counts.ListStateMachines?.asked).toBe(2);
});

it("goes without tags where they are denied, says so once, and asks for no other's", async () => {
  facade.setFaults({ denies: ["ListTagsForResource"] });
  const context = callContext();
  const found = await discover("orders-", context);
  expect(found.map(({ name, description }) => [name, description]).sort()).toEqual([
    ["orders-pack", "Packs an order. (takes any object: its tags may not be read)"],
    ["orders-send", "Runs the state machine orders-send. (takes any object: its tags may not be read)"],
  ]);
  expect(context.logged).toEqual([expect.stringContaining("states:ListTagsForResource")]);
  expect(facade.counts.ListTagsForResource?.asked).toBe(1);
  // Without them nothing can be chosen by one.
  await expect(discover("tag:team")).rejects.toMatchObject({ code: "denied" });
});
