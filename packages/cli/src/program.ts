import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { CliError, exitCodes } from "./cli-error.ts";
import { defaultConfigFile } from "./config/choose-config.ts";
import { version } from "./version.ts";
import { callWires, taskWires } from "./wire/wire-names.ts";

/** The command line. Commands are loaded when they are run, so that `--help` is quick. */
export const createProgram = (exit: (code: number) => void): Command => {
  const program = new Command("taskbridge")
    .description("Puts the pipelines that you already run behind MCP as task-capable tools.")
    .version(version)
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .addHelpText("after", helpText);
  addServe(program, exit);
  addCall(program, exit);
  addTasks(program, exit);
  addDiscover(program, exit);
  addDoctor(program, exit);
  addInit(program, exit);
  for (const command of [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)]) {
    command.exitOverride(({ code, message, exitCode }) => {
      // Commander has printed what there is to say. Help and version are no errors.
      const said = code === "commander.help" ? "a command is needed" : message.replace(/^error: /, "");
      throw new CliError(said, exitCode === 0 ? exitCodes.completed : exitCodes.usage, { isReported: true });
    });
  }
  return program;
};

const helpText = `
Exit codes: 0 completed, 1 failed, or what it needs is away, 2 usage or configuration, 130 interrupted.
Results go to stdout, everything else to stderr.

  taskbridge init
  taskbridge call word_count --input '{"file":"taskbridge.yaml"}' --config taskbridge.yaml
  taskbridge serve --config taskbridge.yaml`;

const configOption = (): Option =>
  new Option("-c, --config <file>", `the configuration file (default: ${defaultConfigFile} in the current folder)`);

/** Options of commands that work on tasks: on a configuration's own store, or on a server elsewhere. */
const withSourceOptions = (command: Command): Command =>
  command
    .addOption(configOption().conflicts("url"))
    .option("-u, --url <url>", "the address of an MCP server, instead of --config")
    .option("--token <token>", "a bearer token for --url (better: the environment variable TASKBRIDGE_TOKEN)")
    .option("--json", "print one JSON document");

const addServe = (program: Command, exit: (code: number) => void): void => {
  program
    .command("serve")
    .description("serve the pipelines of a configuration over HTTP, or over stdio to one client")
    .addOption(configOption())
    .addOption(new Option("--stdio", "speak MCP on stdin and stdout").conflicts(["port", "host"]))
    .option("-p, --port <port>", "listen on this TCP port (default: server.http.port, or 3000)", parsePort)
    .option("--host <address>", "listen on this address (default: server.http.host, or 127.0.0.1)")
    .option("--check", "only check the configuration, and ask its backends")
    .action(async ({ check, ...flags }) =>
      exit(
        check
          ? await (await import("./commands/check-config.ts")).checkConfig(flags)
          : await (await import("./commands/serve.ts")).serve(flags),
      ),
    );
};

const addCall = (program: Command, exit: (code: number) => void): void => {
  withSourceOptions(
    program
      .command("call")
      .description("run one pipeline: show its progress, ask what it asks, print its result")
      .argument("<tool>", "the name of the tool"),
  )
    .option("-i, --input <json>", "the arguments, as a JSON object")
    .option("--input-file <file>", "a file with the arguments; - is stdin")
    .addOption(
      new Option(
        "--wire <wire>",
        `how to speak to --url: auto (tasks where it has them), ${callWires.slice(1).join(", ")}`,
      )
        .argParser(wireParser(callWires))
        .default("auto"),
    )
    .action(async (tool, flags) => exit(await (await import("./commands/call.ts")).call(tool, flags)));
};

const addTasks = (program: Command, exit: (code: number) => void): void => {
  const tasks = program.command("tasks").description("look at tasks, answer and cancel them");
  const add = (name: string, description: string): Command =>
    withSourceOptions(tasks.command(name).description(description)).addOption(
      new Option("--wire <wire>", `how to speak to --url: ${taskWires.join(", ")}`)
        .argParser(wireParser(taskWires))
        .default("auto"),
    );
  const one = (name: string, description: string): Command => add(name, description).argument("<id>", "the task's ID");

  add("list", "all tasks of the store, newest first").action(async (flags) =>
    exit(await (await import("./commands/tasks.ts")).listTasks(flags)),
  );
  one("show", "one task, with its result").action(async (id, flags) =>
    exit(await (await import("./commands/tasks.ts")).showTask(id, flags)),
  );
  one("watch", "follow a task to its end and print its result").action(async (id, flags) =>
    exit(await (await import("./commands/tasks.ts")).watchTask(id, flags)),
  );
  one("cancel", "ask a task to stop").action(async (id, flags) =>
    exit(await (await import("./commands/tasks.ts")).cancelTask(id, flags)),
  );
  one("answer", "answer what a task asks; without --input and --action, asks you")
    .option("-i, --input <json>", "the content of an accepting answer")
    .option("-k, --key <key>", "which question, when there are several")
    .addOption(new Option("-a, --action <action>", "what to say").choices(["accept", "decline", "cancel"]))
    .action(async (id, flags) => exit(await (await import("./commands/answer.ts")).answerTask(id, flags)));
  tasks
    .command("explain")
    .description("everything known of a task, for operators")
    .addArgument(new Argument("<id>", "the task's ID"))
    .addOption(configOption())
    .option("--json", "print one JSON document")
    .action(async (id, flags) => exit(await (await import("./commands/explain.ts")).explainTask(id, flags)));
};

const addDiscover = (program: Command, exit: (code: number) => void): void => {
  program
    .command("discover")
    .description("list the pipelines that exist in the backends, and which of them are tools already")
    .addOption(configOption())
    .option("-a, --adapter <name>", "only those of this entry of adapters")
    .option("-f, --filter <text>", "only those that the adapter finds for this text")
    .option("--json", "print one JSON document: entries for tools")
    .action(async (flags) => exit(await (await import("./commands/discover.ts")).discover(flags)));
};

const addDoctor = (program: Command, exit: (code: number) => void): void => {
  program
    .command("doctor")
    .description("reach the store and every backend, and say what is wrong")
    .addOption(configOption())
    .action(async (flags) => exit(await (await import("./commands/doctor.ts")).doctor(flags)));
};

const addInit = (program: Command, exit: (code: number) => void): void => {
  program
    .command("init")
    .description("write a taskbridge.yaml with a working pipeline into this folder")
    .action(async () => exit(await (await import("./commands/init.ts")).init()));
};

const parsePort = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("A port is a whole number from 0 to 65535.");
};

const wireParser =
  <Wire extends string>(wires: readonly Wire[]) =>
  (text: string): Wire => {
    const wire = wires.find((known) => known === text);
    if (wire !== undefined) return wire;
    throw new InvalidArgumentError(`The wire ${text} is not available; choose ${wires.join(", ")}.`);
  };
