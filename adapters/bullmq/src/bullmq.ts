import {
  type AdapterTraits,
  type CallContext,
  type ExecutionRef,
  isTemplate,
  type StartOutcome,
  type StartRequest,
  type WorkflowAdapter,
} from "@taskbridge/core/adapter";
import { answerJob } from "./answer-job.ts";
import { cancelJob } from "./cancel-job.ts";
import { findStart } from "./events/find-start.ts";
import { eventSearcher } from "./events/search-events.ts";
import { watchQueues } from "./events/watch-queues.ts";
import { type JobLocation, toRef } from "./execution-ref.ts";
import { forgetJob } from "./forget-job.ts";
import { changes, guardedCalls, reads } from "./guarded-calls.ts";
import { inspectJobs } from "./inspect-jobs.ts";
import { checkQueues } from "./operator/check-queues.ts";
import { discoverQueues } from "./operator/discover-queues.ts";
import { readOutput } from "./read-output.ts";
import { bullmqClient } from "./redis/bullmq-client.ts";
import { type BullmqAdapterOptions, parseOptions } from "./settings/parse-options.ts";
import { type BullmqTarget, parseTarget } from "./settings/parse-target.ts";
import { parseStart, repeatStart, startJob } from "./start-job.ts";

const traits: AdapterTraits = {
  start: { kind: "idempotent", forMs: null },
  // A job in the queue is removed for sure; one that a worker holds only hears of it through the worker helper.
  cancel: "requested",
  minInspectIntervalMs: 250,
  mustInspectWithinMs: null,
  inspectBatch: 500,
  // Fifteen a second: looks at thousands of jobs, which come due one by one, are gathered into few round trips.
  maxInspectCallsPerMinute: 900,
  maxPayloadBytes: null,
  retentionMs: null,
  hostBound: false,
  questions: "form",
  progress: "counted",
};

/** An adapter with every verb but `heartbeat` (questions of jobs need none) and `receive` (Redis calls nobody). */
export type BullmqAdapter = WorkflowAdapter<BullmqTarget> &
  Required<Omit<WorkflowAdapter<BullmqTarget>, "heartbeat" | "receive">>;

/** Puts BullMQ's queues behind MCP tasks. Throws `misconfigured`; connects at the first call. */
export const bullmq = (given: BullmqAdapterOptions = {}): BullmqAdapter => {
  const options = parseOptions({ ...given });
  const client = bullmqClient(options);
  const search = eventSearcher();
  let isClosed = false;

  const locationOf = (queue: string): Pick<JobLocation, "prefix" | "queue"> => ({
    prefix: client.prefixOf(queue),
    queue,
  });
  const { guarded, onJob } = guardedCalls(client, () => isClosed);

  const start = (request: StartRequest<BullmqTarget>, context: CallContext): Promise<StartOutcome> =>
    guarded(changes("start"), context, async (client) => {
      const target = parseTarget(request.target);
      const parsed = parseStart(request, target, options.jobOptions);
      const queue = await client.open(locationOf(target.queue));
      const { key, firstSentAt } = request;
      if (firstSentAt === undefined) return startJob(queue, parsed);
      return repeatStart(queue, parsed, { key, firstSentAt, now: context.now, search, operation: "start" });
    });

  const cancel = (ref: ExecutionRef, reason: string, context: CallContext): Promise<void> =>
    onJob(changes("cancel"), ref, context, async ({ client, location }) => {
      const cancellation = { reason: reason === "" ? "cancelled" : reason, now: context.now() };
      const cancelled = await cancelJob(client, location, cancellation);
      if (cancelled !== "signalled") return;
      context.log(
        "info",
        `a worker holds the job ${location.id} in ${location.queue}: it stops if it uses the worker helper`,
      );
    });

  return {
    contract: 1,
    kind: "bullmq",
    traits,
    parseTarget,
    start,
    inspect: (items, context) =>
      guarded(reads("inspect"), context, (client) => inspectJobs(client, items, search, context)),
    cancel,
    answer: (ref, request, context) =>
      onJob(changes("answer"), ref, context, ({ queue, location }) => answerJob(queue, location.id, request)),
    find: ({ key, target, firstSentAt }, context) =>
      guarded(reads("find"), context, async () => {
        const queue = await client.open(locationOf(parseTarget(target).queue));
        const { rows } = await queue.read([key]);
        const ref = toRef({ prefix: queue.prefix, queue: queue.name, id: key });
        if (rows[0] !== undefined && rows[0].state !== "missing") return ref;
        const kept = await findStart(queue, { key, firstSentAt, now: context.now, search, operation: "find" });
        return kept === undefined ? undefined : ref;
      }),
    watch: (request, context) =>
      guarded(reads("watch"), context, () => {
        const queues = new Set(request.targets.map(({ queue }) => queue).filter((queue) => !isTemplate(queue)));
        return watchQueues(client, [...queues].map(locationOf), request, context);
      }),
    readOutput: (ref, range, context) =>
      onJob(reads("readOutput"), ref, context, ({ queue, location }) => readOutput(queue, location.id, range)),
    forget: (ref, context) =>
      onJob(changes("forget"), ref, context, ({ queue, location }) => forgetJob(queue, location.id)),
    async *discover(filter, context) {
      const found = discoverQueues(client, options.prefix, filter);
      for (;;) {
        const next = await guarded(reads("discover"), context, () => found.next());
        if (next.done === true) return;
        yield next.value;
      }
    },
    check: (targets, context) => guarded(reads("check"), context, () => checkQueues(client, targets, context.signal)),
    async close() {
      isClosed = true;
      await client.close();
    },
  };
};
