import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { connectTaskClient } from "../src/task-client.ts";
import { createWorkbench, documentOf, type Workbench } from "./workbench.ts";

let bench: Workbench;
beforeAll(() => {
  bench = createWorkbench();
});
afterAll(() => bench.dispose());

test("interrupted at a question that is the answer of the call: nothing is called cancelled, and the job goes on", async () => {
  const { url } = await bench.serveHere();
  const source = await connectTaskClient({ url: new URL(url), wire: "none", asks: true, onTrouble: () => {} });
  const interrupted = new AbortController();
  const calling = source.callTool(
    "ask",
    {},
    {
      signal: interrupted.signal,
      ask: () => {
        interrupted.abort();
        return new Promise(() => {});
      },
    },
  );
  await expect(calling).rejects.toMatchObject({
    exitCode: 130,
    message: expect.stringMatching(/nothing was left to cancel, and the job may go on/),
    details: { hint: `  taskbridge tasks list --url ${url} --wire 2025-11-25` },
  });
  await source.close();
  const listed = await bench.run(["tasks", "list", "--url", url, "--wire", "2025-11-25", "--json"]);
  expect(documentOf(listed)).toMatchObject({ tasks: [{ state: expect.stringMatching(/running|waiting/) }] });
});
