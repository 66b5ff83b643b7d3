// The chaos run: replicas, workers and clients of every wire, while one after the other is killed, frozen or cut off.
//   npm run chaos -- --minutes 5 [--seed N] [--store both|redis|postgres|sqlite] [--replicas 3] [--workers 4] [--clients 50]
import { join } from "node:path";
import { install } from "./workspace/install.mjs";
import { root, run, turbo } from "./workspace/run.mjs";

await install();
const built = await turbo(["run", "build", "--filter=@taskbridge/chaos...", "--output-logs=errors-only"]);
if (built.code !== 0) process.exit(built.code);
const program = join(root, "packages", "chaos", "dist", "main.js");
process.exitCode = (await run(process.execPath, [program, ...process.argv.slice(2)])).code;
