// One server process of a fleet that has nothing but retention to do. Started by measure-purge.ts, ends with its parent.
import { createTaskEngine } from "@taskbridge/core";
import { fakeAdapter } from "@taskbridge/testkit/adapter";
import { purgedAdapter } from "./measure-purge.ts";
import { storeKind } from "./store-kinds.ts";

const [kind = "", url = ""] = process.argv.slice(2);
const store = await storeKind(kind).createStore(url, { baseDirectory: process.cwd() });
const { adapter } = fakeAdapter({ without: ["watch"] });
let removed = 0;
const engine = createTaskEngine({
  store,
  adapters: { [purgedAdapter]: adapter },
  tools: [{ name: "purged", adapter: purgedAdapter, target: { run: "purged" } }],
  audit: (event) => {
    if (event.kind === "task_removed") removed += 1;
    if (event.kind === "internal_error") process.send?.({ error: event.message });
  },
});
process.on("message", () => process.send?.({ removed }));
process.on("disconnect", () => process.exit(0));
await engine.open();
process.send?.({ removed });
