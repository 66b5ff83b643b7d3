import type { ContractTarget } from "@taskbridge/testkit/adapter";

/** A step that opens a callback, and one that waits for it. */
export const asking = (step: string, indent = "    "): string =>
  `
- open_${step}:
    call: events.create_callback_endpoint
    args: { http_callback_method: POST }
    result: ${step}_callback
- ${step}:
    call: events.await_callback
    args: { callback: "\${${step}_callback}" }
    result: ${step}_told`.replaceAll("\n", `\n${indent}`);

const sleeping = (step: string, seconds: number): string => `
    - ${step}:
        call: sys.sleep
        args: { seconds: ${seconds} }`;

const main = (steps: string): string => `main:\n  params: [input]\n  steps:${steps}\n`;

/** What the contract suite wants to be run, in the language of workflows. */
export const contractWorkflows = (large: string): Readonly<Record<ContractTarget, string>> => ({
  succeeds: main("\n    - count:\n        return: { files: 14 }"),
  fails: main("\n    - count:\n        raise: { code: 409, message: none left }"),
  progresses: main(`${sleeping("first", 0.5)}${sleeping("second", 0.5)}`),
  asks: main(`${asking("approve")}\n    - done:\n        return: "\${approve_told.http_request.body}"`),
  "runs-until-cancelled": main(sleeping("forever", 600)),
  "large-output": main(`\n    - write:\n        return: ${large}`),
});
