import type { Clock } from "@taskbridge/core";
import {
  type AnswerRequest,
  asExecutionRef,
  BridgeError,
  type ExecutionFailure,
  type ExecutionOutput,
  type ExecutionProgress,
  type ExecutionQuestion,
  type ExecutionRef,
  type ExecutionSnapshot,
  type InspectOutcome,
  isEnded,
  type JsonObject,
  type JsonValue,
  type StartKey,
} from "@taskbridge/core/adapter";

/** What a fake execution runs: the name of a script, and anything else a test wants to see in the target. */
export interface FakeTarget extends JsonObject {
  readonly run: string;
}

/** A question as a test writes it; everything has a default. */
export interface FakeQuestion {
  /** Asked again under one name it gets another ID: `approve#1`, `approve#2`. Default `question`. */
  readonly name?: string;
  readonly message?: string;
  readonly schema?: JsonObject;
  readonly url?: string;
  /** Default: a text that begins with `fake-secret`, so that leaks are easily found. Null: none. */
  readonly secret?: string | null;
  readonly expiresAt?: number;
  readonly heartbeatMs?: number;
}

/** An answer that arrived. */
export interface FakeAnswer {
  readonly answerId: string;
  readonly questionId: string;
  readonly action: AnswerRequest["action"];
  readonly content: JsonValue | undefined;
  /** How often it arrived. Only the first had an effect. */
  readonly deliveries: number;
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
  succeedWithStream(
    content: string | Uint8Array,
    options?: { readonly mediaType?: "application/json" | "text/plain"; readonly tellSize?: boolean },
  ): void;
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

interface Moment {
  readonly at: number;
  readonly snapshot: ExecutionSnapshot;
}

/** The part of an execution that only the fake's own verbs use. */
export interface ExecutionControl {
  readonly execution: FakeExecution;
  readonly vanished: { readonly proven: boolean; readonly reason: string } | undefined;
  readonly content: Uint8Array | undefined;
  /** The state that was true at a time; undefined before the beginning. */
  snapshotAt(at: number): ExecutionSnapshot | undefined;
  takeInspect(): InspectOutcome | "hang" | undefined;
  answer(request: AnswerRequest, onAnswer: (execution: FakeExecution, request: AnswerRequest) => void): void;
  beat(question: ExecutionQuestion): void;
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

export const createExecution = (
  seed: ExecutionSeed,
  clock: Clock,
  changed: (control: ExecutionControl) => void,
): ExecutionControl => {
  const acceptedAt = clock.now();
  const first: ExecutionSnapshot = {
    status: seed.startsAs,
    ...(seed.startsAs === "running" ? { startedAt: acceptedAt } : {}),
  };
  const history: Moment[] = [];
  const answers = new Map<string, FakeAnswer>();
  const cancels: string[] = [];
  const beats: number[] = [];
  const asked = new Map<string, number>();
  const timers = new Map<string, () => void>();
  const scripted: (InspectOutcome | "hang")[] = [];
  let snapshot = first;
  let vanished: ExecutionControl["vanished"];
  let content: Uint8Array | undefined;
  let forgotten = false;

  const become = (next: ExecutionSnapshot): void => {
    snapshot = next;
    history.push({ at: clock.now(), snapshot: next });
    changed(control);
  };
  const open = (): readonly ExecutionQuestion[] => snapshot.questions ?? [];
  const end = (change: Partial<ExecutionSnapshot> & Pick<ExecutionSnapshot, "status">): void => {
    for (const callOff of timers.values()) callOff();
    timers.clear();
    const { output: _output, failure: _failure, questions: _questions, ...rest } = snapshot;
    become({ ...rest, endedAt: clock.now(), ...change });
  };
  const close = (questionId: string): void => {
    timers.get(questionId)?.();
    timers.delete(questionId);
    const questions = open().filter((question) => question.id !== questionId);
    const status = snapshot.status === "waiting" && questions.length === 0 ? "running" : snapshot.status;
    become({ ...snapshot, status, questions });
  };
  const giveUpAfter = (questionId: string, delayMs: number, code: string): void => {
    timers.get(questionId)?.();
    timers.set(
      questionId,
      clock.schedule(delayMs, () => {
        if (!isEnded(snapshot.status)) execution.fail({ reason: `no word about ${questionId} in time`, code });
      }),
    );
  };
  const watchOver = (question: ExecutionQuestion): void => {
    if (question.heartbeatMs !== undefined) giveUpAfter(question.id, question.heartbeatMs, "heartbeat_timeout");
    else if (question.expiresAt !== undefined)
      giveUpAfter(question.id, question.expiresAt - clock.now(), "question_timeout");
  };
  const requireOpen = (question: ExecutionQuestion, operation: string): void => {
    const mine = open().find((candidate) => candidate.id === question.id);
    if (mine === undefined) throw new BridgeError("conflict", `question ${question.id} is not open`, { operation });
    if (mine.secret !== question.secret)
      throw new BridgeError("denied", `wrong secret for question ${question.id}`, { operation });
  };

  const execution: FakeExecution = {
    id: seed.id,
    key: seed.key,
    target: seed.target,
    input: seed.input,
    acceptedAt,
    get ref() {
      return asExecutionRef(
        JSON.stringify(seed.evolvingRef && snapshot.status === "queued" ? { queued: seed.id } : { run: seed.id }),
      );
    },
    get snapshot() {
      return snapshot;
    },
    get answers() {
      return [...answers.values()];
    },
    cancels,
    beats,
    get forgotten() {
      return forgotten;
    },
    run: (message) => {
      const { output: _output, failure: _failure, endedAt: _endedAt, ...rest } = snapshot;
      const progress = message === undefined ? {} : { progress: { ...snapshot.progress, message } };
      become({ ...rest, status: "running", startedAt: snapshot.startedAt ?? clock.now(), ...progress });
    },
    progress: (progress) => {
      const status = snapshot.status === "queued" ? "running" : snapshot.status;
      become({
        ...snapshot,
        status,
        startedAt: snapshot.startedAt ?? clock.now(),
        progress: { ...snapshot.progress, ...progress },
      });
    },
    ask: ({ name = "question", secret, message = `${name}?`, ...rest } = {}) => {
      const count = (asked.get(name) ?? 0) + 1;
      asked.set(name, count);
      const id = `${name}#${count}`;
      const kept = secret === null ? {} : { secret: secret ?? `fake-secret-${seed.id}-${id}` };
      const question: ExecutionQuestion = { id, message, ...rest, ...kept };
      become({
        ...snapshot,
        status: "waiting",
        startedAt: snapshot.startedAt ?? clock.now(),
        questions: [...open(), question],
      });
      watchOver(question);
      return question;
    },
    withdraw: (questionId) => {
      for (const question of open()) if (questionId === undefined || question.id === questionId) close(question.id);
    },
    succeed: (value) =>
      end({ status: "succeeded", ...(value === undefined ? {} : { output: { kind: "json", value } }) }),
    succeedWith: (output) => end({ status: "succeeded", output }),
    succeedWithStream: (text, { mediaType = "text/plain", tellSize = true } = {}) => {
      content = typeof text === "string" ? new TextEncoder().encode(text) : text;
      end({
        status: "succeeded",
        output: { kind: "stream", mediaType, ...(tellSize ? { bytes: content.length } : {}) },
      });
    },
    fail: (failure) =>
      end({
        status: "failed",
        failure: { kind: "job", ...(typeof failure === "string" ? { reason: failure } : failure) },
      }),
    stop: (reason) =>
      end({ status: "cancelled", ...(reason === undefined ? {} : { failure: { kind: "job", reason } }) }),
    set: (change) => become({ ...snapshot, ...change }),
    vanish: ({ proven = false, reason = "vanished" } = {}) => {
      vanished = { proven, reason };
    },
    reappear: () => {
      vanished = undefined;
    },
    nextInspect: (outcome, times = 1) => {
      for (let time = 0; time < times; time++) scripted.push(outcome);
    },
  };

  const control: ExecutionControl = {
    execution,
    get vanished() {
      return vanished;
    },
    get content() {
      return content;
    },
    snapshotAt: (at) => history.findLast((moment) => moment.at <= at)?.snapshot,
    takeInspect: () => scripted.shift(),
    answer: (request, onAnswer) => {
      const known = answers.get(request.answerId);
      if (known !== undefined) {
        answers.set(request.answerId, { ...known, deliveries: known.deliveries + 1 });
        return;
      }
      requireOpen(request.question, "answer");
      onAnswer(execution, request);
      const { answerId, action, content: said } = request;
      answers.set(answerId, { answerId, questionId: request.question.id, action, content: said, deliveries: 1 });
      if (!isEnded(snapshot.status)) close(request.question.id);
    },
    beat: (question) => {
      requireOpen(question, "heartbeat");
      beats.push(clock.now());
      watchOver(question);
    },
    noteCancel: (reason) => {
      cancels.push(reason);
    },
    forget: () => {
      forgotten = true;
      vanished = { proven: true, reason: "forgotten on request" };
    },
  };
  history.push({ at: acceptedAt, snapshot: first });
  changed(control);
  return control;
};
