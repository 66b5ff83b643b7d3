import { fileURLToPath } from "node:url";

const runs = (job) => ({ command: [process.execPath, fileURLToPath(new URL(`./jobs/${job}.mjs`, import.meta.url))] });
const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const fixed = { adapter: "local", task: { pollIntervalMs: 250 } };
const taskOnly = { adapter: "local", task: { pollIntervalMs: 250, support: "required" } };

/** The pipelines that the suite's `tasks-*` scenarios call: each call is a process of its own. */
export const pipelineTools = [
  {
    ...fixed,
    name: "slow_compute",
    description: "Takes the given time.",
    target: runs("slow-compute"),
    input: object({ seconds: { type: "number", minimum: 0 }, label: { type: "string" } }, ["seconds"]),
  },
  {
    ...taskOnly,
    name: "failing_job",
    description: "A job that exits with an error, for callers that know tasks.",
    target: runs("failing-job"),
    input: object(),
  },
  {
    ...fixed,
    name: "protocol_error_job",
    description: "A job that reports a failure of the protocol.",
    target: runs("protocol-error-job"),
    input: object(),
  },
  {
    ...fixed,
    name: "confirm_delete",
    description: "A job that asks before it goes on.",
    target: runs("confirm-delete"),
    input: object({ filename: { type: "string" } }, ["filename"]),
  },
  {
    ...fixed,
    name: "multi_input",
    description: "A job that asks two things at once.",
    target: runs("multi-input"),
    input: object(),
  },
  {
    ...taskOnly,
    name: "test_tool_with_task",
    description: "Asks for a name before the job starts.",
    target: runs("greet"),
    input: object(),
    prepare: (_input, { user_name: answer }) => {
      if (answer === undefined) {
        const schema = object({ name: { type: "string" } }, ["name"]);
        return { questions: { user_name: { message: "What is your name?", schema } } };
      }
      return answer.action === "accept" ? { input: { name: answer.content.name } } : { refused: "Nobody to greet." };
    },
  },
];
