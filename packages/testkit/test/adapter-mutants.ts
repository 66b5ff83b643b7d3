import {
  type AnswerRequest,
  asExecutionRef,
  asStartKey,
  BridgeError,
  type ExecutionRef,
  type ExecutionSnapshot,
  type ExecutionUpdate,
  type InspectOutcome,
  isBridgeError,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";

/** An adapter with one fault, and the cases of the suite that must see it. */
export interface Mutant {
  readonly fault: string;
  readonly caughtBy: readonly [string, ...string[]];
  /** The members that differ from those of a good adapter. */
  change(good: Required<WorkflowAdapter>): Partial<WorkflowAdapter>;
}

const mapOutcomes =
  (
    good: Required<WorkflowAdapter>,
    map: (outcome: InspectOutcome) => InspectOutcome,
  ): Required<WorkflowAdapter>["inspect"] =>
  async (items, context) =>
    (await good.inspect(items, context)).map(map);

const mapSnapshots = (
  good: Required<WorkflowAdapter>,
  map: (snapshot: ExecutionSnapshot) => ExecutionSnapshot,
): Partial<WorkflowAdapter> => ({
  inspect: mapOutcomes(good, (outcome) =>
    "snapshot" in outcome ? { ...outcome, snapshot: map(outcome.snapshot) } : outcome,
  ),
});

const swallow =
  (...codes: readonly string[]) =>
  (error: unknown): void => {
    if (!isBridgeError(error) || !codes.includes(error.code)) throw error;
  };

const forever = new AbortController().signal;
let fresh = 0;

export const mutants: readonly Mutant[] = [
  {
    fault: "starts twice",
    caughtBy: ["starts an execution that can be looked at", "gives the same execution when the start is sent again"],
    change: (good) => ({
      start: async (request, context) => {
        await good.start({ ...request, key: asStartKey(`${request.key}-again`) }, context);
        return good.start(request, context);
      },
    }),
  },
  {
    fault: "forgets the key between sends",
    caughtBy: [
      "gives the same execution when the start is sent again",
      "gives one execution when the start is sent five times at once",
    ],
    change: (good) => ({
      start: (request, context) => good.start({ ...request, key: asStartKey(`k-${fresh++}`) }, context),
    }),
  },
  {
    fault: "takes another input for the same start",
    caughtBy: ["refuses another input under the same key"],
    change: (good) => ({ start: (request, context) => good.start({ ...request, input: "{}" }, context) }),
  },
  {
    fault: "gives every key the same execution",
    caughtBy: ["starts two executions for two keys"],
    change: (good) => ({ start: (request, context) => good.start({ ...request, key: asStartKey("one") }, context) }),
  },
  {
    fault: "starts without regard to a signal that has fired",
    caughtBy: ["rejects a start whose signal has already fired"],
    change: (good) => ({ start: (request, context) => good.start(request, { ...context, signal: forever }) }),
  },
  {
    fault: "answers in another order",
    caughtBy: ["answers in the order of the items, the same one twice as well"],
    change: (good) => ({ inspect: async (items, context) => (await good.inspect(items, context)).toReversed() }),
  },
  {
    fault: "leaves out what it does not find",
    caughtBy: ["tells of an unknown execution among good ones, without harm to them"],
    change: (good) => ({
      inspect: async (items, context) =>
        (await good.inspect(items, context)).filter((outcome) => !("notFound" in outcome)),
    }),
  },
  {
    fault: "throws on an unknown ref",
    caughtBy: ["tells of an unknown execution among good ones, without harm to them"],
    change: (good) => ({
      inspect: mapOutcomes(good, (outcome) => {
        if ("notFound" in outcome) throw new BridgeError("not_found", outcome.notFound.reason);
        return outcome;
      }),
    }),
  },
  {
    fault: "throws on an unreadable ref",
    caughtBy: ["tells of unreadable refs among good ones, without harm to them"],
    change: (good) => ({
      inspect: async (items, context) => {
        for (const { ref } of items) JSON.parse(ref);
        return good.inspect(items, context);
      },
    }),
  },
  {
    fault: "takes fewer items than it says",
    caughtBy: ["takes as many items as it says"],
    change: (good) => ({
      inspect: async (items, context) => {
        if (items.length > 50) throw new BridgeError("invalid_input", "too many items");
        return good.inspect(items, context);
      },
    }),
  },
  {
    fault: "gives an output with a failure",
    caughtBy: ["tells a failure with its reason"],
    change: (good) =>
      mapSnapshots(good, (snapshot) =>
        snapshot.status === "failed" ? { ...snapshot, output: { kind: "text", text: "" } } : snapshot,
      ),
  },
  {
    fault: "fails without a reason",
    caughtBy: ["tells a failure with its reason"],
    change: (good) =>
      mapSnapshots(good, (snapshot) => (snapshot.status === "failed" ? { status: "failed" } : snapshot)),
  },
  {
    fault: "reports a failed job as cancelled",
    caughtBy: ["tells a failure with its reason"],
    change: (good) =>
      mapSnapshots(good, (snapshot) =>
        snapshot.status === "failed" ? { ...snapshot, status: "cancelled" } : snapshot,
      ),
  },
  {
    fault: "tells time in seconds",
    caughtBy: ["tells a success with its output"],
    change: (good) =>
      mapSnapshots(good, (snapshot) => ({ ...snapshot, startedAt: Math.floor((snapshot.startedAt ?? 0) / 1_000) })),
  },
  {
    fault: "speaks of a status of its own",
    caughtBy: ["tells a success with its output"],
    change: (good) => mapSnapshots(good, (snapshot) => ({ ...snapshot, status: "completed" as "succeeded" })),
  },
  {
    fault: "gives what JSON cannot carry",
    caughtBy: ["tells a success with its output"],
    change: (good) => mapSnapshots(good, (snapshot) => ({ ...snapshot, startedAt: new Date() as unknown as number })),
  },
  {
    fault: "tells the end without the output",
    caughtBy: ["tells a success with its output"],
    change: (good) =>
      mapSnapshots(good, (snapshot) => {
        const { output: _output, ...rest } = snapshot;
        return rest;
      }),
  },
  {
    fault: "tells the end differently each time",
    caughtBy: ["tells the same end whenever it is asked, in status and in detail"],
    change: (good) =>
      mapSnapshots(good, (snapshot) =>
        snapshot.endedAt === undefined ? snapshot : { ...snapshot, endedAt: snapshot.endedAt + fresh++ },
      ),
  },
  {
    fault: "keeps progress to itself",
    caughtBy: ["tells progress"],
    change: (good) => mapSnapshots(good, ({ progress: _progress, ...rest }) => rest),
  },
  {
    fault: "loses a question",
    caughtBy: ["shows a question, the same one at every look", "delivers an answer, and the execution goes on"],
    change: (good) =>
      mapSnapshots(good, (snapshot) =>
        snapshot.status === "waiting" ? { ...snapshot, status: "running", questions: [] } : snapshot,
      ),
  },
  {
    fault: "waits for nobody",
    caughtBy: ["shows a question, the same one at every look"],
    change: (good) =>
      mapSnapshots(good, (snapshot) => (snapshot.status === "waiting" ? { ...snapshot, questions: [] } : snapshot)),
  },
  {
    fault: "names a question anew at every look",
    caughtBy: ["shows a question, the same one at every look"],
    change: (good) =>
      mapSnapshots(good, (snapshot) =>
        snapshot.questions === undefined
          ? snapshot
          : { ...snapshot, questions: snapshot.questions.map((question) => ({ ...question, id: `${fresh++}` })) },
      ),
  },
  {
    fault: "drops answers",
    caughtBy: ["delivers an answer, and the execution goes on"],
    change: () => ({ answer: async () => {} }),
  },
  {
    fault: "accepts for those who decline",
    caughtBy: ["delivers a refusal, or says that there is none and leaves the question open"],
    change: (good) => ({
      answer: async (ref, request, context) => {
        if (request.action !== "accept") throw new BridgeError("invalid_input", "accept it");
        return good.answer(ref, request, context);
      },
    }),
  },
  {
    fault: "takes a repeated answer for another one",
    caughtBy: ["takes a repeated answer ID as delivered, while it is fresh and after the end"],
    change: (good) => ({
      answer: (ref, request, context) =>
        good.answer(ref, { ...request, answerId: `answer-${fresh++}` } satisfies AnswerRequest, context),
    }),
  },
  {
    fault: "pretends to deliver to a closed question",
    caughtBy: ["refuses another answer to a closed question"],
    change: (good) => ({
      answer: (ref, request, context) => good.answer(ref, request, context).catch(swallow("conflict")),
    }),
  },
  {
    fault: "beats for closed questions",
    caughtBy: ["takes heartbeats while the question is open, and no longer"],
    change: (good) => ({
      heartbeat: (ref, question, context) => good.heartbeat(ref, question, context).catch(swallow("conflict")),
    }),
  },
  {
    fault: "does not cancel",
    caughtBy: ["stops an execution, asked once or five times at once", "stops an execution at once after its start"],
    change: () => ({ cancel: async () => {} }),
  },
  {
    fault: "complains about cancelling what has ended",
    caughtBy: ["does no harm to an execution that has ended"],
    change: (good) => ({
      cancel: async (ref, reason, context) => {
        const [outcome] = await good.inspect([{ ref, want: "status" }], context);
        if (outcome !== undefined && "snapshot" in outcome && outcome.snapshot.endedAt !== undefined)
          throw new BridgeError("conflict", "it has ended");
        return good.cancel(ref, reason, context);
      },
    }),
  },
  {
    fault: "goes on after the signal",
    caughtBy: ["gives up calls to a silent backend when their signal fires"],
    change: (good) => ({ cancel: (ref, reason, context) => good.cancel(ref, reason, { ...context, signal: forever }) }),
  },
  {
    fault: "rejects with errors of its vendor",
    caughtBy: ["gives up calls to a silent backend when their signal fires"],
    change: (good) => ({
      find: (request, context) =>
        good.find(request, context).catch((error: unknown) => {
          throw new Error(String(error));
        }),
    }),
  },
  {
    fault: "finds the newest execution instead of its own",
    caughtBy: ["finds an execution by its key", "finds nothing under a key that was never sent"],
    change: () => {
      let newest = asExecutionRef('{"run":"run-1"}');
      let count = 0;
      return {
        find: async () => newest,
        start: async () => {
          newest = asExecutionRef(`{"run":"run-${++count}"}`);
          return { ref: newest };
        },
      };
    },
  },
  {
    fault: "watches in silence",
    caughtBy: ["tells those who watch how executions end"],
    change: () => ({ watch: async () => ({ close: async () => {} }) }),
  },
  {
    fault: "tells of one execution under the key of another",
    caughtBy: ["tells those who watch how executions end"],
    change: (good) => {
      let first: ExecutionRef | undefined;
      const toFirst = ({ ref, ...update }: ExecutionUpdate): ExecutionUpdate => {
        first ??= ref;
        return first === undefined ? update : { ...update, ref: first };
      };
      return {
        watch: ({ sink, ...request }, context) =>
          good.watch({ ...request, sink: (updates, cursor) => sink(updates.map(toFirst), cursor) }, context),
      };
    },
  },
  {
    fault: "resumes at the present",
    caughtBy: ["tells what happened while nobody watched to those who resume"],
    change: (good) => ({
      watch: ({ cursor: _cursor, ...request }, context) => good.watch(request, context),
    }),
  },
  {
    fault: "believes every webhook",
    caughtBy: ["reads a genuine webhook call, and refuses one without its signature"],
    change: (good) => ({
      receive: (request, context) => good.receive({ ...request, headers: { "x-fake-signature": "signed" } }, context),
    }),
  },
  {
    fault: "reads an output from the wrong place",
    caughtBy: ["gives a large output in ranges that make up the whole"],
    change: (good) => ({
      readOutput: (ref, range, context) =>
        good.readOutput(ref, { ...range, offset: Math.max(0, range.offset - 1) }, context),
    }),
  },
  {
    fault: "forgets once only",
    caughtBy: ["forgets an execution twice"],
    change: (good) => ({
      forget: async (ref, context) => {
        const [outcome] = await good.inspect([{ ref, want: "status" }], context);
        if (outcome === undefined || "notFound" in outcome) throw new BridgeError("not_found", "already gone");
        return good.forget(ref, context);
      },
    }),
  },
  {
    fault: "takes anything for a target",
    caughtBy: ["refuses garbage as a target, naming the place"],
    change: () => ({ parseTarget: (target) => target }),
  },
  {
    fault: "says that it cannot cancel, and can",
    caughtBy: ["declares traits that agree with its verbs"],
    change: (good) => ({ traits: { ...good.traits, cancel: "none" } }),
  },
  {
    fault: "closes once only",
    caughtBy: ["closes twice"],
    change: (good) => {
      let closed = false;
      return {
        close: async () => {
          if (closed) throw new BridgeError("internal", "closed already");
          closed = true;
          await good.close();
        },
      };
    },
  },
];
