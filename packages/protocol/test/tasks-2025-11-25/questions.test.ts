import { describe, expect, test } from "@jest/globals";
import { fromElicitResult } from "../../src/tasks-2025-11-25/from-elicit-result.ts";
import { fromSamplingResult } from "../../src/tasks-2025-11-25/from-sampling-result.ts";
import { toElicitation } from "../../src/tasks-2025-11-25/to-elicitation.ts";
import { toSampling } from "../../src/tasks-2025-11-25/to-sampling.ts";
import { aQuestion } from "../a-task.ts";

const all = { form: true, url: true };
const related = { "io.modelcontextprotocol/related-task": { taskId: "t-1" } };
const flat = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const deep = { type: "object", properties: { at: { type: "object" } } };
const secret = { type: "object", properties: { key: { type: "string", writeOnly: true } } };
const approve = aQuestion({ schema: flat });
const consent = aQuestion();
const page = aQuestion({ key: "q2", message: "Sign", url: "https://sign.example/1" });

describe("[B-12] elicitations", () => {
  test("are forms of flat objects, tied to their task", () => {
    expect(toElicitation(approve, "t-1", all)).toEqual({
      method: "elicitation/create",
      params: { mode: "form", message: "Delete 14 files?", requestedSchema: flat, _meta: related },
    });
    expect(toElicitation(consent, "t-1", all)).toMatchObject({
      params: { mode: "form", requestedSchema: { type: "object", properties: {} } },
    });
    expect(toElicitation(aQuestion({ schema: deep }), "t-1", all)).toMatchObject({
      params: { requestedSchema: { properties: { json: { type: "string" } }, required: ["json"] } },
    });
  });

  test("are pages under an ID that stays the same and is no other's", () => {
    const asked = {
      method: "elicitation/create",
      params: {
        mode: "url",
        message: "Sign",
        url: "https://sign.example/1",
        elicitationId: "t-1.q2",
        _meta: related,
      },
    };
    expect(toElicitation(page, "t-1", all)).toEqual(asked);
    expect(toElicitation(page, "t-1", { form: false, url: true })).toEqual(asked);
    expect(toElicitation({ ...page, key: "q3" }, "t-1", all)).toMatchObject({ params: { elicitationId: "t-1.q3" } });
  });

  test.each([
    [approve, { form: false, url: true }, "waits for an answer that this client cannot give: Delete 14 files?"],
    [page, { form: true, url: false }, "waits for a person at https://sign.example/1: Sign"],
    [aQuestion({ schema: secret }), all, "waits for a secret, which no form may ask for: Delete 14 files?"],
    [{ ...page, schema: secret }, all, "waits for a secret, which no form may ask for: Sign"],
  ])("are withheld where the client lacks the mode, or from a form for a secret (%#)", (question, modes, reason) => {
    expect(toElicitation(question, "t-1", modes)).toBe(reason);
  });
});

describe("answers to elicitations", () => {
  test.each([
    [approve, { action: "accept", content: { ok: true } }, { action: "accept", content: { ok: true } }],
    [approve, { action: "accept" }, { action: "accept", content: {} }],
    [approve, { action: "decline", content: { ok: true } }, { action: "decline" }],
    [approve, { action: "cancel", _meta: related }, { action: "cancel" }],
    [consent, { action: "accept", content: {} }, { action: "accept" }],
    [
      aQuestion({ schema: deep }),
      { action: "accept", content: { json: '{"at":{}}' } },
      { action: "accept", content: { at: {} } },
    ],
    [page, { action: "accept" }, undefined],
    [page, { action: "decline" }, { action: "decline" }],
  ])("%#", (question, value, answer) => {
    expect(fromElicitResult(value, question, all)).toEqual(answer);
  });

  test.each([
    [approve, undefined, "q1"],
    [approve, "yes", "q1"],
    [approve, {}, "q1.action"],
    [approve, { action: "maybe" }, "q1.action"],
    [approve, { action: "accept", content: [] }, "q1.content"],
    [aQuestion({ schema: deep }), { action: "accept", content: { json: "{" } }, "q1.content.json"],
  ])("of a wrong shape are refused by the name of the field (%#)", (question, value, path) => {
    expect(() => fromElicitResult(value, question, all)).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path }, message: expect.stringContaining(path) }),
    );
  });
});

describe("[B-12] questions to a model", () => {
  test("ask for JSON that fits the schema", () => {
    expect(toSampling(approve, "t-1")).toEqual({
      method: "sampling/createMessage",
      params: {
        messages: [{ role: "user", content: { type: "text", text: "Delete 14 files?" } }],
        systemPrompt: expect.stringContaining(`JSON Schema and nothing else: ${JSON.stringify(flat)}`),
        maxTokens: 4_096,
        _meta: related,
      },
    });
  });

  test("ask for a yes where there is no schema", () => {
    expect(toSampling(consent, "t-1")).toMatchObject({
      params: { systemPrompt: expect.stringMatching(/word ACCEPT and [\s\S]*word DECLINE and/) },
    });
  });

  test.each([
    [page, "waits for a person at https://sign.example/1: Sign"],
    [aQuestion({ schema: secret }), "waits for a secret, which no model may be asked for: Delete 14 files?"],
  ])("are never of what only a person can do (%#)", (question, reason) => {
    expect(toSampling(question, "t-1")).toBe(reason);
  });

  test("may be of what a person could do on a page, where there is a schema", () => {
    expect(toSampling({ ...page, schema: flat }, "t-1")).toMatchObject({ method: "sampling/createMessage" });
  });
});

describe("answers of a model", () => {
  const said = (text: string) => ({ role: "assistant", model: "m", content: { type: "text", text } });
  const anything = aQuestion({ schema: {} });

  test.each([
    [approve, said('{"ok":true}'), { action: "accept", content: { ok: true } }],
    [approve, said(' \n{"ok":true}\n'), { action: "accept", content: { ok: true } }],
    [approve, said('```json\n{"ok":true}\n```'), { action: "accept", content: { ok: true } }],
    [approve, said('```\n{"ok":true}\n```'), { action: "accept", content: { ok: true } }],
    [approve, said('Here it is:\n```json {"ok":true}``` Bye.'), { action: "accept", content: { ok: true } }],
    [anything, said("```true```"), { action: "accept", content: true }],
    [anything, said("null"), { action: "accept", content: null }],
    [anything, said('{"code":"```js\\n1\\n```"}'), { action: "accept", content: { code: "```js\n1\n```" } }],
    [anything, said('"decline"'), { action: "accept", content: "decline" }],
    [approve, said("DECLINE"), { action: "decline" }],
    [approve, said("**Decline.**\n"), { action: "decline" }],
    [consent, said("ACCEPT"), { action: "accept" }],
    [consent, said('"accept".'), { action: "accept" }],
    [consent, said("decline"), { action: "decline" }],
    [
      approve,
      {
        content: [
          { type: "text", text: '{"ok":' },
          { type: "image", data: "" },
          { type: "text", text: "false}" },
        ],
      },
      { action: "accept", content: { ok: false } },
    ],
  ])("%#", (question, value, answer) => {
    expect(fromSamplingResult(value, question)).toEqual(answer);
  });

  test.each([
    [approve, undefined],
    [approve, {}],
    [approve, { content: "true" }],
    [approve, { content: { type: "image", data: "" } }],
    [approve, said("")],
    [approve, said('{"ok":')],
    [approve, said("```json\n{")],
    [approve, said("ACCEPT")],
    [approve, said("I would decline, but go on")],
    [consent, said("yes")],
    [consent, said("I accept nothing")],
    [consent, said("{}")],
  ])("of no sense are refused (%#)", (question, value) => {
    expect(() => fromSamplingResult(value, question)).toThrow(
      expect.objectContaining({ code: "invalid_input", data: { path: "q1.content" } }),
    );
  });
});
