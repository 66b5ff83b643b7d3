import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { listFiles, openFolder } from "./folder.mjs";
import { ask, finish, progressReporter, readInput } from "./report.mjs";

await readInput();
const folder = await openFolder(process.argv[2]);
const files = (await listFiles(folder)).filter((file) => /(\.tmp|\.bak|~)$/.test(file));

const deleted = files.length > 0 && (await mayDelete()) ? await deleteFiles() : { files: 0, bytes: 0 };
finish({ found: files.length, deleted: deleted.files, freedBytes: deleted.bytes });

async function mayDelete() {
  const shown = files.slice(0, 10).join(", ");
  const more = files.length > 10 ? ` and ${files.length - 10} more` : "";
  const answer = await ask("delete", `Delete ${files.length} temporary files? ${shown}${more}`, {
    type: "object",
    properties: { ok: { type: "boolean", title: "Delete them" } },
    required: ["ok"],
  });
  return answer.action === "accept" && answer.content.ok;
}

async function deleteFiles() {
  const report = progressReporter(files.length);
  let bytes = 0;
  for (const [index, file] of files.entries()) {
    const path = join(folder, file);
    bytes += (await stat(path)).size;
    await rm(path);
    report(index + 1, file);
  }
  return { files: files.length, bytes };
}
