import { afterEach, describe, expect, test } from "@jest/globals";
import { callForTask } from "./rpc-client.ts";
import { eventually, serve, stopAll } from "./serve.ts";

afterEach(stopAll);

describe("[R-1] the result of a task as a resource", () => {
  test("is reached by template, and listed to nobody", async () => {
    const { rpc } = await serve();
    expect((await rpc("resources/list")).result.resources).toEqual([]);
    expect((await rpc("resources/templates/list")).result.resourceTemplates).toMatchObject([
      { uriTemplate: "taskbridge://tasks/{id}/result{?offset,length}" },
    ]);
  });

  test("case 30: is linked from its preview, and read on from address to address", async () => {
    const { rpc, backend } = await serve({ limits: { maxInlineResultBytes: 100 } });
    const taskId = await callForTask(rpc);
    const text = "ä€😀x".repeat(500);
    backend.of().succeedWithStream(text);
    await eventually(async () => (await rpc("tasks/get", { taskId })).result.status === "completed");
    const { result } = (await rpc("tasks/get", { taskId })).result as {
      result: { content: { text: string; uri: string }[] };
    };
    const preview = result.content[0]?.text ?? "";
    expect(text.startsWith(preview)).toBe(true);
    expect(result.content[2]).toMatchObject({ type: "resource_link", mimeType: "text/plain", size: 5_000 });
    let reported = "";
    let uri: string | undefined = `${result.content[2]?.uri}?length=333`;
    while (uri !== undefined) {
      const read: { contents?: { text: string; _meta: Record<string, string> }[] } = (
        await rpc("resources/read", { uri })
      ).result;
      const [part] = read.contents ?? [];
      reported += part?.text ?? "";
      uri = part?._meta["taskbridge/nextUri"];
    }
    expect(reported).toBe(text);
  });

  test("is refused when there is none, with nothing told of other owners'", async () => {
    const { rpc, backend } = await serve();
    const taskId = await callForTask(rpc);
    const read = async (uri: string) => (await rpc("resources/read", { uri })).error;
    for (const uri of [
      "taskbridge://tasks/nope/result",
      "file:///etc/passwd",
      "taskbridge://x",
      "",
      "taskbridge://tasks/%/result",
    ]) {
      const headers = uri === "" ? { "mcp-name": "" } : {};
      const { error } = await rpc("resources/read", { uri }, { headers });
      expect([-32_602, -32_020]).toContain(error.code);
      if (error.code === -32_602) expect(error).toMatchObject({ message: "Resource not found", data: { uri } });
    }
    expect(await read(`taskbridge://tasks/${taskId}/result`)).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("running"),
    });
    backend.of().succeed("x");
    await backend.events.settled();
    for (const query of ["offset=4", "offset=-1", "offset=x", "length=1.5"]) {
      expect(await read(`taskbridge://tasks/${taskId}/result?${query}`)).toMatchObject({
        code: -32_602,
        data: { path: query.split("=")[0] },
      });
    }
    expect(
      (await rpc("resources/read", { uri: `taskbridge://tasks/${taskId}/result?offset=3` })).result.contents,
    ).toMatchObject([{ text: "", mimeType: "application/json" }]);
  });
});
