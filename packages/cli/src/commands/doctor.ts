import { createServer } from "node:net";
import { resolve } from "node:path";
import { isBridgeError } from "@taskbridge/core";
import type { CheckFinding } from "@taskbridge/core/adapter";
import { CliError, exitCodes } from "../cli-error.ts";
import { checkAdapter } from "../config/check-adapter.ts";
import { checkStore } from "../config/check-store.ts";
import { checkTemplates } from "../config/check-templates.ts";
import { chooseConfig } from "../config/choose-config.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { formatPath } from "../config/config-path.ts";
import { loadPipelines, type Pipelines } from "../config/load-pipelines.ts";
import { openConfig } from "../config/open-config.ts";
import { openStore } from "../config/open-store.ts";
import { safeText } from "../terminal/safe-text.ts";

interface Finding {
  readonly level: CheckFinding["level"];
  /** What it is about: a part of the configuration, or `node`. */
  readonly subject: string;
  readonly message: string;
}

const checkTimeoutMs = 20_000;

/** Reaches everything that a configuration needs and prints what was found. Resolves with 1 when something is wrong. */
export const doctor = async (flags: { readonly config?: string }): Promise<number> => {
  const file = chooseConfig(flags.config);
  let failed = false;
  const print = ({ level, subject, message }: Finding): void => {
    failed ||= level === "error";
    process.stdout.write(safeText(`${level.padEnd(8)}${subject}: ${message}\n`));
  };

  print(checkNode());
  try {
    const config = openConfig(file);
    checkTemplates(config);
    const pipelines = await loadPipelines(config);
    print({ level: "ok", subject: config.file, message: "the configuration can be used" });
    for (const finding of await checkWires(config)) print(finding);
    for (const finding of await reachStore(config, pipelines)) print(finding);
    for (const name of Object.keys(pipelines.adapters)) {
      for (const { location, ...finding } of await checkAdapter(config, pipelines, name, checkTimeoutMs))
        print({ ...finding, subject: formatPath(location) });
    }
    for (const finding of await checkHttp(config)) print(finding);
    await Promise.all(Object.values(pipelines.adapters).map((adapter) => adapter.close?.()));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    for (const line of error.message.split("\n")) print({ level: "error", subject: "configuration", message: line });
  }
  return failed ? exitCodes.failed : exitCodes.completed;
};

const checkNode = (): Finding => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isEnough = major > 20 || (major === 20 && minor >= 19);
  return isEnough
    ? { level: "ok", subject: "node", message: process.version }
    : { level: "error", subject: "node", message: `20.19 or newer is needed, this is ${process.version}` };
};

const checkWires = async ({ server }: Config): Promise<Finding[]> => {
  const wires = server.wires ?? (await import("@taskbridge/server")).defaultWires;
  const finding: Finding = { level: "ok", subject: "server.wires", message: wires.join(", ") };
  if (wires.includes("none")) return [finding];
  const message = "hosts that know no tasks cannot use the tools; add none to serve them";
  return [finding, { level: "warning", subject: "server.wires", message }];
};

const reachStore = async (config: Config, { adapters }: Pipelines): Promise<Finding[]> => {
  const subject = "store";
  try {
    const store = await openStore(config);
    try {
      const hostBound = Object.entries(adapters).filter(([, { traits }]) => traits.hostBound && store.shared);
      const isMemory = config.store.url === "memory:";
      const findings = await checkStore({ store, isMemory, timeoutMs: checkTimeoutMs });
      return [
        ...findings.map((finding): Finding => ({ ...finding, subject })),
        ...hostBound.map(([name]): Finding => {
          const message = "its executions live on this host only, but other hosts share the store";
          return { level: "error", subject: `adapters.${name}`, message };
        }),
      ];
    } finally {
      await store.close();
    }
  } catch (error) {
    return [{ level: "error", subject, message: messageOf(error) }];
  }
};

const checkHttp = async ({ directory, server: { http = {}, auth } }: Config): Promise<Finding[]> => {
  const { host = "127.0.0.1", port = 3000 } = http;
  const findings: Finding[] = [await checkPort(host, port)];
  if (auth !== undefined) findings.push(await checkTokens(resolve(directory, auth.tokens)));
  else if (!(await import("@taskbridge/server")).isLoopback(host)) {
    const message = `${host} can be reached by others: the server does not start without server.auth`;
    findings.push({ level: "error", subject: "server.http.host", message });
  }
  return findings;
};

const checkPort = (host: string, port: number): Promise<Finding> =>
  new Promise((settle) => {
    const subject = "server.http.port";
    const probe = createServer();
    probe.once("error", ({ code }: NodeJS.ErrnoException) => {
      const isTaken = code === "EADDRINUSE";
      const message = isTaken
        ? `${host}:${port} is in use, perhaps by a server of this configuration`
        : `${host}:${port}: ${code}`;
      settle({ level: isTaken ? "warning" : "error", subject, message });
    });
    probe.listen({ host, port }, () => {
      probe.close(() => settle({ level: "ok", subject, message: `${host}:${port} is free` }));
    });
  });

const checkTokens = async (path: string): Promise<Finding> => {
  const subject = "server.auth.tokens";
  try {
    const { tokenFile } = await import("@taskbridge/server");
    await tokenFile(path).open?.();
    return { level: "ok", subject, message: "the tokens can be read" };
  } catch (error) {
    return { level: "error", subject, message: messageOf(error) };
  }
};

const messageOf = (error: unknown): string =>
  isBridgeError(error) || error instanceof ConfigError || error instanceof CliError ? error.message : String(error);
