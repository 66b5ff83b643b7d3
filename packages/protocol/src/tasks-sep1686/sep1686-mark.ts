import { isObject } from "@taskbridge/core";

/** By this a request asks to become a task, under an ID that its sender has chosen. */
export const taskKey = "modelcontextprotocol.io/task";

/** All keys of the draft begin so. The later revisions turned it around: `io.modelcontextprotocol/`. */
const prefix = "modelcontextprotocol.io/";

/** Whether a request is by somebody who speaks the draft. */
export const carriesSep1686 = (params: Readonly<Record<string, unknown>> | undefined): boolean =>
  isObject(params?._meta) && Object.keys(params._meta).some((key) => key.startsWith(prefix));

/** Whether a request asks to become a task, well or badly. */
export const hasTaskMark = (params: Readonly<Record<string, unknown>> | undefined): boolean =>
  isObject(params?._meta) && params._meta[taskKey] !== undefined;
