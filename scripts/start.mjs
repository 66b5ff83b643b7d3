// Installs, builds and starts the example: a server with two pipelines, and one call through it.
import { install } from "./workspace/install.mjs";
import { run, turbo } from "./workspace/run.mjs";

const example = "examples/quickstart/main.mjs";

await install();
const build = await turbo(["run", "build", "--output-logs=errors-only"]);
process.exitCode = build.code;
if (build.code === 0) process.exitCode = (await run(process.execPath, [example])).code;
