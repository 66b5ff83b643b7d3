import type { Host } from "../../src/gcw/blocking-calls.ts";
import { compile } from "../../src/gcw/compile.ts";
import { newThread, runProgram } from "../../src/gcw/run.ts";
import { toJson, WorkflowError } from "../../src/gcw/values.ts";

export const host: Host = {
  environment: { GOOGLE_CLOUD_LOCATION: "here" },
  createCallback: (method) => `callback:${method}`,
  awaitCallback: (_url, _seconds, signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
};

/** Runs the steps of `main`, or a whole source, to the JSON of the result, or of `{ raised }`. */
export const runSource = async (text: string): Promise<unknown> => {
  const { signal } = new AbortController();
  const source = /^main:/m.test(text) ? text : `main:\n  params: [{ input: null }]\n  steps:\n${text}`;
  try {
    return JSON.parse(toJson(await runProgram(compile(source), undefined, newThread({ host, signal, steps: 0 }))));
  } catch (error) {
    if (error instanceof WorkflowError) return { raised: JSON.parse(toJson(error.value)) };
    throw error;
  }
};
