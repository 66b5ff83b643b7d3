import { afterEach, expect, test } from "@jest/globals";
import { type FakeAnswers, type FakeServer, fakeServer, type Sent } from "../fake-server.ts";
import { createWorkbench, documentOf, type Workbench } from "../workbench.ts";

let bench: Workbench | undefined;
let server: FakeServer | undefined;
afterEach(async () => {
  await bench?.dispose();
  await server?.close();
});

const open = async (answers: FakeAnswers): Promise<{ bench: Workbench; server: FakeServer }> => {
  bench = createWorkbench();
  server = await fakeServer(answers);
  return { bench, server };
};

/** Refuses each kind of request so often before it takes one. */
const refusing = (times: number): ((message: Sent) => boolean) => {
  const refused = new Map<string, number>();
  return ({ method }) => {
    const count = refused.get(method) ?? 0;
    refused.set(method, count + 1);
    return count < times;
  };
};

const unavailable = {
  error: { code: 503, message: "the store is away", data: { reason: "unavailable", retryAfterMs: 10 } },
};

test("a server that takes no requests at present is asked again, whatever the command, and starts one task", async () => {
  const one = createWorkbench();
  bench = one;
  const callAll = async (wire: string, server: FakeServer): Promise<void> => {
    const run = (...args: string[]) => one.run([...args, "--url", server.url, "--wire", wire]);
    const called = await run("call", "job");
    expect(called).toMatchObject({ code: 0, stdout: "fine\n" });
    expect(called.stderr).toContain("HTTP 503: ");
    expect(called.stderr).toContain("The server is being stopped");
    expect(called.stderr).toContain("; trying again …\n");
    // Two of them were refused.
    expect(server.sent.filter(({ method }) => method === "tools/call")).toHaveLength(3);
    expect(await run("tasks", "list")).toMatchObject({ code: 0 });
    expect(await run("tasks", "show", "T1")).toMatchObject({ code: 0 });
  };
  // Each wire waits between its requests, so both take no longer than one.
  await Promise.all(
    ["auto", "2025-11-25"].map(async (wire) => {
      const server = await fakeServer({ isUnavailable: refusing(2), task: { status: "completed" } });
      await callAll(wire, server).finally(() => server.close());
    }),
  );
});

test("Ctrl-C ends the wait for it", async () => {
  const { bench, server } = await open({ isUnavailable: () => true });
  const calling = bench.start(["call", "job", "--url", server.url]);
  await calling.sees(/trying again/);
  calling.kill("SIGINT");
  expect(await calling.done).toMatchObject({ code: 130, stdout: "" });
});

test("a server whose store is away is asked again for what begins nothing, and not to begin a task", async () => {
  const refused = refusing(2);
  const isCall = ({ method }: Sent): boolean => method === "tools/call";
  const { bench, server } = await open({
    task: { status: "completed" },
    answer: (message) =>
      isCall(message) || (message.method.startsWith("tasks/") && refused(message)) ? unavailable : undefined,
  });
  const run = (...args: string[]) => bench.run([...args, "--url", server.url, "--wire", "2025-11-25", "--json"]);
  expect(documentOf(await run("tasks", "show", "T1"))).toMatchObject({ state: "succeeded" });
  const called = await run("call", "job");
  expect([called.code, documentOf(called)]).toMatchObject([1, { error: { code: "unavailable" } }]);
  expect(server.sent.filter(isCall)).toHaveLength(1);
});
