// node import-stock.mjs FILE: asks one supplier after the other, and notes everything at the end.
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";

const [file] = process.argv.slice(2);
const report = (what) => console.log(`::taskbridge ${JSON.stringify(what)}`);
const suppliers = 120;

for (let done = 1; done <= suppliers; done++) {
  await pause(500); // a slow supplier
  report({ progress: { done, total: suppliers, message: `supplier ${done}` } });
}
const products = JSON.parse(await readFile(file, "utf8"));
await writeFile(`${file}.new`, JSON.stringify(products.map((product) => ({ ...product, stock: product.stock + 10 }))));
await rename(`${file}.new`, file);
report({ result: { products: products.length } });
