import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import { inTime } from "../serve.ts";

const script = fileURLToPath(new URL("./stdio-host-v1.mjs", import.meta.url));

test.each(["0", "1"])("a server on stdin ends with it, with tasks attached or without (%s)", async (attach) => {
  const child = spawn(process.execPath, [script], { env: { ...process.env, ATTACH: attach }, stdio: "pipe" });
  const exited = once(child, "exit");
  try {
    child.stdin.write(
      `${JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
      })}\n`,
    );
    await inTime(once(child.stdout, "data"));
    child.stdin.end();
    expect(await inTime(exited)).toEqual([0, null]);
  } finally {
    child.kill("SIGKILL");
  }
});
