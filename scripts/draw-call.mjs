// Draws packages/docs/images/call.svg, the picture in the README: a call of examples/housekeeping that asks a question, answered from
// a second terminal. Every line in it was printed by the command line program. Run `npm run build` first.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "./workspace/run.mjs";

const example = join(root, "examples", "housekeeping");
const program = join(root, "packages", "cli", "dist", "main.js");
const picture = join(root, "packages", "docs", "images", "call.svg");
const lineHeight = 20;
const width = 940;

/** @type {{ text: string, kind: "command" | "output" }[]} */
const drawn = [];
const data = mkdtempSync(join(tmpdir(), "taskbridge-picture-"));
try {
  mkdirSync(join(data, "uploads"));
  for (const name of ["draft.tmp", "notes.bak"]) writeFileSync(join(data, "uploads", name), "");
  await show(["call", "clean_up", "--input", '{"folder":"uploads"}', "--config", "taskbridge.yaml"]);
  mkdirSync(join(root, "packages", "docs", "images"), { recursive: true });
  writeFileSync(picture, toSvg());
} finally {
  rmSync(data, { recursive: true });
}

/**
 * Runs one command and draws it with what it prints. A command that it prints for the answer is run too, as a second terminal would.
 * @param {readonly string[]} args
 */
async function show(args) {
  drawn.push({
    text: `$ taskbridge ${args.map((arg) => (/["{]/.test(arg) ? `'${arg}'` : arg)).join(" ")}`,
    kind: "command",
  });
  const child = spawn(process.execPath, [program, ...args], {
    cwd: example,
    env: { ...process.env, HOUSEKEEPING_ROOT: data, HOUSEKEEPING_DATA: data },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const closed = once(child, "close");
  await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => {
      for await (const line of createInterface({ input: stream })) {
        const [, answer] = /^ +taskbridge (tasks answer .+)$/.exec(line) ?? [];
        if (drawn.at(-1)?.text !== line) drawn.push({ text: line, kind: "output" });
        if (answer !== undefined) await show([...answer.split(" "), "--input", '{"ok":true}']);
      }
    }),
  );
  const [code] = await closed;
  if (code !== 0) throw new Error(`taskbridge ${args.join(" ")} ended with exit code ${code}`);
}

/** @returns {string} */
function toSvg() {
  const height = (drawn.length + 2) * lineHeight;
  const lines = drawn.map(({ text, kind }, index) => {
    const fill = kind === "command" ? "#7ee787" : "#c9d1d9";
    return `  <text x="20" y="${(index + 1.7) * lineHeight}" fill="${fill}" xml:space="preserve">${escapeXml(text)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">
  <title>A call that asks a question, and the answer from a second terminal</title>
  <rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
${lines.join("\n")}
</svg>
`;
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
