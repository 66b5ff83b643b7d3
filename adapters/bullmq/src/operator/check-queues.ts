import { type CheckFinding, isTemplate } from "@taskbridge/core/adapter";
import { isOurId } from "../events/parse-event.ts";
import { toFinding } from "../mapping/to-error.ts";
import type { BullmqClient, JobSample, QueuePort } from "../redis/client.ts";
import type { BullmqTarget } from "../settings/parse-target.ts";

/** How many of a queue's jobs are looked at for their options. */
const sampleSize = 50;
/** What BullMQ 6 wants. */
const minVersion = [6, 2] as const;

const isOlder = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1]);
};

const checkServer = async (client: BullmqClient): Promise<readonly CheckFinding[]> => {
  const { flavour, version, evictionPolicy } = await client.server();
  const server = `${flavour} ${version} at ${client.address}`;
  const findings: CheckFinding[] = [
    isOlder(version)
      ? { level: "warning", path: "url", message: `${server}: BullMQ wants ${minVersion.join(".")} or newer` }
      : { level: "ok", path: "url", message: server },
  ];
  if (evictionPolicy !== undefined && evictionPolicy !== "noeviction") {
    const message = `${server} has maxmemory-policy ${evictionPolicy}: it may drop jobs and results; set it to noeviction`;
    findings.push({ level: "warning", path: "url", message });
  }
  return findings;
};

/** Keeps so many, or for so long, by removing others of the same queue; `true` and 0 remove the job itself alone. */
const trims = (value: unknown): boolean => {
  if (typeof value === "number") return value > 0;
  if (typeof value !== "object" || value === null) return false;
  const { age, count } = value as { readonly age?: unknown; readonly count?: unknown };
  return typeof age === "number" || (typeof count === "number" && count > 0);
};

const retentionOf = ({ opts }: JobSample): string | undefined => {
  const name = ["removeOnComplete", "removeOnFail"].find((option) => trims(opts[option]));
  return name === undefined ? undefined : `${name}: ${JSON.stringify(opts[name])}`;
};

const checkQueue = async (queue: QueuePort, path: string): Promise<readonly CheckFinding[]> => {
  const [{ exists, isPaused }, workers, jobs] = await Promise.all([
    queue.read([]),
    queue.countWorkers().catch(() => undefined),
    queue.sample(sampleSize),
  ]);
  const named = `queue ${queue.name} (prefix ${queue.prefix})`;
  const findings: CheckFinding[] = [];
  const warn = (message: string): void => {
    findings.push({ level: "warning", path, message });
  };
  if (!exists) warn(`${named}: nobody has used it yet`);
  if (isPaused) warn(`${named} is paused: jobs wait until it is resumed`);
  if (workers === 0) warn(`${named}: no worker is connected, so that jobs will wait`);
  const retention = jobs
    .filter(({ id }) => !isOurId(id))
    .map(retentionOf)
    .find((found) => found !== undefined);
  if (retention !== undefined)
    warn(
      `${named}: jobs are added with ${retention}, which trims all ended jobs of the queue, ours too. Their results are taken when the queue tells them; what ends while this server is away for longer than the queue's events last is lost`,
    );
  const counted = workers === undefined ? "its workers cannot be counted" : `${workers} workers`;
  return findings.length > 0 ? findings : [{ level: "ok", path, message: `${named}: ${counted}` }];
};

/** Whether Redis and these queues can be used, and what in their settings harms us. */
export const checkQueues = async (
  client: BullmqClient,
  targets: readonly BullmqTarget[],
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> => {
  const failed = (error: unknown, path: string): CheckFinding => {
    if (signal.aborted) throw error;
    return { level: "error", path, message: toFinding(error, client.address) };
  };
  let server: readonly CheckFinding[];
  try {
    server = await checkServer(client);
  } catch (error) {
    return [failed(error, "url")];
  }
  const findings = await Promise.all(
    targets.map(async ({ queue }, index): Promise<readonly CheckFinding[]> => {
      const path = `targets[${index}].queue`;
      if (isTemplate(queue))
        return [
          {
            level: "warning",
            path,
            message: "depends on the input, so it cannot be checked, nor can its events be heard",
          },
        ];
      if (targets.findIndex((other) => other.queue === queue) < index) return [];
      try {
        return await checkQueue(await client.open({ prefix: client.prefixOf(queue), queue }), path);
      } catch (error) {
        return [failed(error, path)];
      }
    }),
  );
  return [...server, ...findings.flat()];
};
