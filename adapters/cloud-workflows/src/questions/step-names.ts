import type { Step } from "../google/client.ts";

/** Names by which an author knows a step. */
export const stepNames = ({ routine, step }: Step): readonly string[] =>
  routine === "main" || routine === "" ? [step, `main.${step}`] : [`${routine}.${step}`];
