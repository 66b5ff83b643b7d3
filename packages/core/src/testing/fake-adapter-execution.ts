import {
  asExecutionRef,
  type ExecutionFailure,
  type ExecutionOutput,
  type ExecutionProgress,
  type ExecutionQuestion,
  type ExecutionRef,
  type ExecutionSnapshot,
  type InspectOutcome,
  type JsonObject,
  type JsonValue,
  type StartKey,
} from "../adapter.ts";
import type { Clock } from "../contract/clock.ts";
import { createQuestions, type FakeAnswer, type FakeQuestion, type Questions } from "./fake-adapter-questions.ts";
import { createTimeline, type Timeline } from "./fake-adapter-timeline.ts";

/** What a fake execution runs: the name of a script, and anything else a test wants to see in the target. */
export interface FakeTarget extends JsonObject {
  readonly run: string;
}

/** One execution of the fake backend, moved by the test. Every move is allowed at any time, also after an end. */
export interface FakeExecution {
  readonly id: string;
  /** The ref that it has now. */
  readonly ref: ExecutionRef;
  readonly key: StartKey;
  readonly target: FakeTarget;
  readonly input: string;
  readonly acceptedAt: number;
  /** The true state, whatever stale or hidden reads tell. */
  readonly snapshot: ExecutionSnapshot;
  readonly answers: readonly FakeAnswer[];
  /** Reasons of the cancels that arrived while it had not ended. */
  readonly cancels: readonly string[];
  /** When heartbeats arrived, epoch milliseconds. */
  readonly beats: readonly number[];
  readonly forgotten: boolean;
  run(message?: string): void;
  progress(progress: ExecutionProgress): void;
  ask(question?: FakeQuestion): ExecutionQuestion;
  /** Takes a question back, or all of them. */
  withdraw(questionId?: string): void;
  succeed(value?: JsonValue): void;
  succeedWith(output: ExecutionOutput): void;
  /** Succeeds with an output that is read in ranges. */
  succeedWithStream(content: string | Uint8Array, options?: FakeStreamOptions): void;
  fail(failure: string | (Partial<ExecutionFailure> & { readonly reason: string })): void;
  /** Ends as cancelled, whether or not somebody asked for it. */
  stop(reason?: string): void;
  /** Overwrites members of the snapshot, valid or not. */
  set(change: Partial<ExecutionSnapshot>): void;
  /** Is no longer found. Default: unproven. */
  vanish(how?: { readonly proven?: boolean; readonly reason?: string }): void;
  reappear(): void;
  /** The next `times` look-ups of this execution come out like this, whatever else is in their batch. */
  nextInspect(outcome: InspectOutcome | "hang", times?: number): void;
}

export interface FakeStreamOptions {
  /** Default `text/plain`. */
  readonly mediaType?: "application/json" | "text/plain";
  /** The snapshot tells the size. Default true. */
  readonly declaresSize?: boolean;
}

/** The part of an execution that only the fake's own verbs use. */
export interface ExecutionControl {
  readonly execution: FakeExecution;
  readonly timeline: Timeline;
  readonly questions: Questions;
  readonly vanished: { readonly proven: boolean; readonly reason: string } | undefined;
  readonly content: Uint8Array | undefined;
  nextScriptedInspect(): InspectOutcome | "hang" | undefined;
  noteCancel(reason: string): void;
  forget(): void;
}

export interface ExecutionSeed {
  readonly id: string;
  readonly key: StartKey;
  readonly target: FakeTarget;
  readonly input: string;
  readonly startsAs: "queued" | "running";
  readonly evolvingRef: boolean;
}

/** What happened to an execution beside its states. */
interface Fate {
  vanished?: { readonly proven: boolean; readonly reason: string } | undefined;
  content?: Uint8Array;
  forgotten: boolean;
  readonly cancels: string[];
  readonly scripted: (InspectOutcome | "hang")[];
}

type Moves = Omit<
  FakeExecution,
  "id" | "ref" | "key" | "target" | "input" | "acceptedAt" | "snapshot" | "answers" | "cancels" | "beats" | "forgotten"
>;

export const createExecution = (
  seed: ExecutionSeed,
  clock: Clock,
  changed: (control: ExecutionControl) => void,
): ExecutionControl => {
  const { id, key, target, input, startsAs, evolvingRef } = seed;
  const acceptedAt = clock.now();
  const first: ExecutionSnapshot =
    startsAs === "running" ? { status: startsAs, startedAt: acceptedAt } : { status: startsAs };
  const timeline = createTimeline(first, clock, () => changed(control));
  const questions = createQuestions(id, clock, timeline);
  const fate: Fate = { forgotten: false, cancels: [], scripted: [] };

  const execution: FakeExecution = {
    id,
    key,
    target,
    input,
    acceptedAt,
    get ref() {
      return asExecutionRef(
        JSON.stringify(evolvingRef && timeline.snapshot.status === "queued" ? { queued: id } : { run: id }),
      );
    },
    get snapshot() {
      return timeline.snapshot;
    },
    get answers() {
      return questions.answers;
    },
    beats: questions.beats,
    cancels: fate.cancels,
    get forgotten() {
      return fate.forgotten;
    },
    ...createMoves(timeline, questions, fate, clock),
  };
  const control: ExecutionControl = {
    execution,
    timeline,
    questions,
    get vanished() {
      return fate.vanished;
    },
    get content() {
      return fate.content;
    },
    nextScriptedInspect: () => fate.scripted.shift(),
    noteCancel: (reason) => {
      fate.cancels.push(reason);
    },
    forget: () => {
      fate.forgotten = true;
      fate.vanished = { proven: true, reason: "forgotten on request" };
    },
  };
  changed(control);
  return control;
};

const createMoves = (timeline: Timeline, questions: Questions, fate: Fate, clock: Clock): Moves => {
  const startedAt = (): number => timeline.snapshot.startedAt ?? clock.now();
  return {
    run: (message) => {
      const { output: _output, failure: _failure, endedAt: _endedAt, ...rest } = timeline.snapshot;
      const progress = message === undefined ? {} : { progress: { ...rest.progress, message } };
      timeline.become({ ...rest, status: "running", startedAt: startedAt(), ...progress });
    },
    progress: (progress) => {
      const { status } = timeline.snapshot;
      const reported = { ...timeline.snapshot.progress, ...progress };
      timeline.become({
        ...timeline.snapshot,
        status: status === "queued" ? "running" : status,
        startedAt: startedAt(),
        progress: reported,
      });
    },
    ask: questions.ask,
    withdraw: questions.withdraw,
    succeed: (value) =>
      timeline.end({ status: "succeeded", ...(value === undefined ? {} : { output: { kind: "json", value } }) }),
    succeedWith: (output) => timeline.end({ status: "succeeded", output }),
    succeedWithStream: (content, { mediaType = "text/plain", declaresSize = true } = {}) => {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      fate.content = bytes;
      timeline.end({
        status: "succeeded",
        output: { kind: "stream", mediaType, ...(declaresSize ? { bytes: bytes.length } : {}) },
      });
    },
    fail: (failure) =>
      timeline.end({
        status: "failed",
        failure: { kind: "job", ...(typeof failure === "string" ? { reason: failure } : failure) },
      }),
    stop: (reason) =>
      timeline.end({ status: "cancelled", ...(reason === undefined ? {} : { failure: { kind: "job", reason } }) }),
    set: (change) => timeline.become({ ...timeline.snapshot, ...change }),
    vanish: ({ proven = false, reason = "vanished" } = {}) => {
      fate.vanished = { proven, reason };
    },
    reappear: () => {
      fate.vanished = undefined;
    },
    nextInspect: (outcome, times = 1) => {
      for (let time = 0; time < times; time++) fate.scripted.push(outcome);
    },
  };
};
