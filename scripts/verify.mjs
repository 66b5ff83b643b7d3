// Everything that CI checks, in this order; each step is an npm script of its own. `--skip NAME` leaves one out.
import { install } from "./workspace/install.mjs";
import { run } from "./workspace/run.mjs";

const steps = [
  "lint",
  "own-text",
  "boundaries",
  "typecheck",
  "build",
  "test",
  "figures",
  "exports",
  "conformance",
  "chaos:short",
];
const skipped = process.argv.slice(2).filter((_, index, given) => given[index - 1] === "--skip");
for (const name of skipped.filter((name) => !steps.includes(name))) {
  console.error(`verify: there is no step "${name}", only ${steps.join(", ")}.`);
  process.exit(2);
}

await install();
const outcomes = [];
for (const step of steps.filter((name) => !skipped.includes(name))) {
  console.log(`\n── ${step}`);
  const startedAt = Date.now();
  const { code } = await run("npm", ["run", "--silent", step]);
  outcomes.push({ step, code, seconds: Math.round((Date.now() - startedAt) / 1000) });
}

console.log("\n── verify");
for (const { step, code, seconds } of outcomes) {
  console.log(`  ${step.padEnd(14)}${code === 0 ? "ok" : `FAILED (exit ${code})`}  ${seconds} s`);
}
process.exitCode = outcomes.some(({ code }) => code !== 0) ? 1 : 0;
