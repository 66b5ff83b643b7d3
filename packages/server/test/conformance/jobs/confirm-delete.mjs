import { ask, finish, readInput } from "./report.mjs";

const { filename } = await readInput();
const { confirm } = await ask([
  {
    key: "confirm",
    message: `Delete ${filename}?`,
    schema: { type: "object", properties: { confirm: { type: "boolean" } }, required: ["confirm"] },
  },
]);
finish(confirm.action === "accept" && confirm.content.confirm ? `Deleted ${filename}.` : `Kept ${filename}.`);
