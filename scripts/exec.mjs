// Installs what is missing, then runs a tool of the workspace: `node scripts/exec.mjs biome check`.
import { install } from "./workspace/install.mjs";
import { run, turbo } from "./workspace/run.mjs";

const [tool = "", ...args] = process.argv.slice(2);
await install();
const { code } = tool === "turbo" ? await turbo(args) : await run(tool, args);
process.exitCode = code;
