import { ask, finish, readInput } from "./report.mjs";

await readInput();
const { name, confirm } = await ask([
  {
    key: "name",
    message: "What is it called?",
    schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  },
  {
    key: "confirm",
    message: "Is that right?",
    schema: { type: "object", properties: { confirm: { type: "boolean" } }, required: ["confirm"] },
  },
]);
finish(JSON.stringify([name, confirm]));
