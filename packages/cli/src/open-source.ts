import { unlessAborted } from "@taskbridge/core/adapter";
import { interruptedError, usageError } from "./cli-error.ts";
import { chooseConfig } from "./config/choose-config.ts";
import type { TaskSource } from "./task-source.ts";
import { safeLine } from "./terminal/safe-text.ts";
import type { CallWire } from "./wire/wire-names.ts";

/** Where the tasks of a command are: one of `config` and `url`, or else the configuration of the current folder. */
export interface SourceFlags {
  readonly config?: string;
  readonly url?: string;
  readonly token?: string;
  readonly wire?: CallWire;
}

export interface SourceUse {
  /** The command may have to carry on what it starts, so the engine works by itself. */
  readonly background?: boolean;
  /** The command can ask a person, so a server may put questions to it. */
  readonly asks?: boolean;
  /** Ends the wait for a server, or a backend, that does not answer. */
  readonly signal?: AbortSignal;
}

/** Rejects with a usage error, with what opening fails with, and as interrupted when the signal fires. */
export const openSource = async (flags: SourceFlags, { signal, ...use }: SourceUse = {}): Promise<TaskSource> => {
  const opening = open(flags, use, signal);
  if (signal === undefined) return opening;
  try {
    const source = await unlessAborted(signal, opening);
    signal.throwIfAborted();
    return source;
  } catch (error) {
    if (!signal.aborted) throw error;
    // Nobody waits any more for what comes now.
    opening.then((late) => late.close()).catch(() => {});
    throw interruptedError("Interrupted: nothing was sent.");
  }
};

const open = async (
  flags: SourceFlags,
  { background = false, asks = false }: SourceUse,
  signal?: AbortSignal,
): Promise<TaskSource> => {
  const { config, url } = flags;
  if (config !== undefined && url !== undefined) throw usageError("give either --config or --url, not both");
  if (url === undefined) {
    if (flags.wire !== undefined && flags.wire !== "auto") throw usageError("--wire is about a server: it needs --url");
    if (flags.token !== undefined) throw usageError("--token is for a server: it needs --url");
    const file = chooseConfig(config, "--config FILE or --url URL");
    const [{ openConfig }, { engineSource }] = await Promise.all([
      import("./config/open-config.ts"),
      import("./engine-source.ts"),
    ]);
    return engineSource(openConfig(file), { background });
  }
  const { connectTaskClient } = await import("./task-client.ts");
  const token = flags.token ?? process.env["TASKBRIDGE_TOKEN"];
  return connectTaskClient({
    url: parseUrl(url),
    ...(token === undefined || token === "" ? {} : { token }),
    wire: flags.wire ?? "auto",
    asks,
    ...(signal === undefined ? {} : { signal }),
    onTrouble: (message) => process.stderr.write(`${safeLine(message)}\n`),
  });
};

const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw usageError(`--url: an http:// or https:// address is needed, got ${JSON.stringify(text)}`);
};
