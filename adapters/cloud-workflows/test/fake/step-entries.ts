import type { JsonValue } from "@taskbridge/core/adapter";

/** A step entry as it is kept; members as in the API. */
export interface StepEntry {
  readonly entryId: number;
  readonly routine: string;
  readonly step: string;
  readonly stepType: string;
  readonly createdAt: number;
  readonly parent: number | undefined;
  readonly previous: number | undefined;
  readonly threadId: string | undefined;
  readonly progress: Progress | undefined;
  updatedAt: number;
  state: "STATE_IN_PROGRESS" | "STATE_SUCCEEDED" | "STATE_FAILED" | "STATE_CANCELLED";
  exception: JsonValue | undefined;
  variables: Readonly<Record<string, JsonValue>>;
  next: number | undefined;
  readonly children: number[];
}

export interface Progress {
  readonly type: "PROGRESS_TYPE_FOR" | "PROGRESS_TYPE_PARALLEL_BRANCH";
  readonly number: number;
  readonly expected: number;
}
