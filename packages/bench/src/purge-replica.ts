// One server process of a fleet that has nothing but retention to do. Started by measure-purge.ts, ends with its parent.
import { purgingEngine } from "./purging-engine.ts";
import { storeKind } from "./store-kinds.ts";

const [kind = "", url = "", keeps = ""] = process.argv.slice(2);
const store = await storeKind(kind).createStore(url, { baseDirectory: process.cwd() });
let removed = 0;
const engine = purgingEngine(store, keeps === "keeps", {
  removed: () => {
    removed += 1;
  },
  failed: (error) => process.send?.({ error }),
});
process.on("message", () => process.send?.({ removed }));
process.on("disconnect", () => process.exit(0));
await engine.open();
process.send?.({ removed });
