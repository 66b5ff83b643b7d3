// Serves the shop until SIGINT or SIGTERM.
//   PORT=3000 SHOP_DATA=.cache node dist/server.js
import { constants, copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { attachTasks } from "@taskbridge/server";
import { openPipelines } from "./pipelines.ts";
import { serveSessions } from "./serve-sessions.ts";
import { createShop } from "./shop.ts";

const { PORT = "3000", SHOP_DATA: data = ".cache" } = process.env;
const file = join(data, "products.json");
await mkdir(data, { recursive: true });
await copyFile("products.json", file, constants.COPYFILE_EXCL).catch(unlessThere);

const pipelines = await openPipelines(file, data);
const server = await serveSessions(() => {
  const shop = createShop(file);
  attachTasks(shop, pipelines, { owners: "local" });
  return shop;
}, Number(PORT));
console.log(`The shop is at ${server.url}`);

for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, stop);

async function stop(): Promise<void> {
  await pipelines.close();
  await server.close();
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}
