import { expect, test } from "@jest/globals";
import { asExecutionRef } from "@taskbridge/core/adapter";
import { executionNameOf, parseRef } from "../../src/mapping/execution-name.ts";

const name = "projects/example.com:p-1/locations/europe-west1/workflows/publish_it/executions/0a-1b";

test("takes a name apart", () => {
  expect(parseRef(asExecutionRef(name))).toEqual({
    name,
    project: "example.com:p-1",
    location: "europe-west1",
    workflow: name.slice(0, name.indexOf("/executions")),
    workflowId: "publish_it",
    id: "0a-1b",
  });
});

test.each([
  "",
  "{}",
  "projects/p",
  `${name}/callbacks/c`,
  `https://x/${name}`,
  `${name}?a=b`,
  name.replace("0a-1b", ".."),
])("refuses what is none: %s", (ref) => {
  expect(() => parseRef(asExecutionRef(ref))).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

test("keeps to the project as it is called, whatever Google calls it", () => {
  const workflow = "projects/demo/locations/l/workflows/w";
  expect(executionNameOf(workflow, "projects/123/locations/l/workflows/w/executions/e")).toBe(
    `${workflow}/executions/e`,
  );
  expect(executionNameOf(workflow, "nothing")).toBeUndefined();
});
