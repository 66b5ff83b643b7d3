import { readFile } from "node:fs/promises";
import { type GcwServer, startGcw } from "@taskbridge/services/gcw";

const workflow = "publish";
const location = "projects/my-project/locations/europe-west1";

/**
 * An engine on this host that has the workflow. It ends with this process.
 * @param port Default: a free one.
 * @throws When the port is taken.
 */
export const openEngine = async (port?: number): Promise<GcwServer> => {
  const engine = await startGcw(port === undefined ? {} : { port });
  const sourceContents = await readFile(new URL(`../${workflow}.yaml`, import.meta.url), "utf8");
  const answer = await fetch(`${engine.url}/v1/${location}/workflows?workflowId=${workflow}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sourceContents }),
  });
  if (!answer.ok) throw new Error(`${workflow}.yaml is refused (${answer.status}): ${await answer.text()}`);
  return engine;
};
