import type { PipelineDescription } from "@taskbridge/core/adapter";
import type { BullmqClient } from "../redis/client.ts";
import type { BullmqTarget } from "../settings/parse-target.ts";

/** How many of a queue's newest jobs are looked at for their names. */
const sampleSize = 200;

/** The queues under a prefix, once for each name that their jobs have. Jobs that a scheduler makes are not for others to start. */
export async function* discoverQueues(
  client: BullmqClient,
  prefix: string,
  filter: string | undefined,
): AsyncGenerator<PipelineDescription<BullmqTarget>> {
  const queues = new Set<string>();
  for await (const name of client.listQueues(prefix)) if (!name.includes(":")) queues.add(name);
  for (const name of [...queues].sort()) {
    const queue = await client.open({ prefix, queue: name });
    const jobs = await queue.sample(sampleSize);
    const names = new Set(jobs.filter(({ isRepeated }) => !isRepeated).map((job) => job.name));
    const description = names.size === 0 ? "no job is there to tell its name" : `jobs of queue ${name}`;
    for (const job of names.size === 0 ? [name] : [...names].sort()) {
      const pipeline = `${name}/${job}`;
      if (pipeline.includes(filter ?? "")) yield { name: pipeline, description, target: { queue: name, job } };
    }
  }
}
