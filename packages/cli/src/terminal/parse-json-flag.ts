import type { JsonValue } from "@taskbridge/core";
import { usageError } from "../cli-error.ts";

export const parseJsonFlag = (flag: string, text: string): JsonValue => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`${flag}: not JSON: ${(error as Error).message}`);
  }
};
