import { expect } from "@jest/globals";
import { yes } from "../rev-2025/task-calls.ts";
import type { ServeOptions } from "../serve.ts";

export const question: { message: string; schema: typeof yes } = { message: "Delete 14 files?", schema: yes };
export const accepted = { action: "accept", content: { ok: true } };
export const options: ServeOptions = {
  waitMs: 10_000,
  fake: {
    onStart: (run) => run.ask(question),
    onAnswer: (run, { action, content }) => queueMicrotask(() => run.succeed({ action, content: content ?? null })),
  },
};
export const form = { elicitation: { form: {} } };

export interface Asked {
  readonly inputRequests: Readonly<Record<string, { readonly params: { readonly message: string } }>>;
  readonly requestState: string;
}

/** What an answer asks, with the key of its first question. */
export const askedBy = ({ result }: { readonly result: Record<string, unknown> }): Asked & { readonly key: string } => {
  expect(result).toMatchObject({ resultType: "input_required", requestState: expect.any(String) });
  const asked = result as unknown as Asked;
  return { ...asked, key: Object.keys(asked.inputRequests)[0] ?? "" };
};
