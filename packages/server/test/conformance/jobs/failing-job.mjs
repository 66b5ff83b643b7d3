import { setTimeout as sleep } from "node:timers/promises";

await sleep(1_000);
process.stderr.write("This job always fails.\n", () => process.exit(1));
