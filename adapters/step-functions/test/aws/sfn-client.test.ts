import "../aws-environment.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "@jest/globals";
import { toBridgeError } from "@taskbridge/core/adapter";
import { sfnClient } from "../../src/aws/sfn-client.ts";
import { parseOptions } from "../../src/settings/parse-options.ts";
import { until } from "../until.ts";

it("lets nobody's looks keep a task's calls waiting, and tells which were never sent", async () => {
  const asked: string[] = [];
  const count = (action: string): number => asked.filter((one) => one === action).length;
  const server = createServer((message, response) => {
    const action = String(message.headers["x-amz-target"]).split(".").at(-1) ?? "";
    asked.push(action);
    if (action === "StopExecution") response.end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = sfnClient(parseOptions({ region: "eu-west-1", endpoint: `http://127.0.0.1:${port}` }));
  const giveUp = new AbortController();
  const fifty = async (action: string) => count(action) === 50 || undefined;

  const inspections = Array.from({ length: 51 }, () => client.describe("arn", giveUp.signal));
  const inspected = Promise.allSettled(inspections);
  await until("looks take all of their turns", () => fifty("DescribeExecution"));
  await client.stop("arn", { error: "E", cause: "c" }, new AbortController().signal);
  const call = { machineArn: "arn", name: "mcp-1", input: "{}" };
  const starts = Array.from({ length: 51 }, () => client.start(call, giveUp.signal).catch(toBridgeError));
  await until("starts take theirs", () => fifty("StartExecution"));
  giveUp.abort();

  const reported = await Promise.all(starts);
  expect(reported[0]).toMatchObject({ code: "outcome_unknown", notSent: false });
  expect(reported[50]).toMatchObject({ code: "unavailable", notSent: true });
  await inspected;
  expect(asked).toHaveLength(101);
  client.close();
  server.closeAllConnections();
  server.close();
});
