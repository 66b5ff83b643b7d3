// The benchmarks: installs and builds what is missing, then hands its arguments on. Without any it tells what there is.
import { install } from "./workspace/install.mjs";
import { run, turbo } from "./workspace/run.mjs";

await install();
const built = await turbo(["run", "build", "--filter=@taskbridge/bench...", "--output-logs=errors-only"]);
const { code } =
  built.code === 0 ? await run(process.execPath, ["packages/bench/dist/main.js", ...process.argv.slice(2)]) : built;
process.exitCode = code;
