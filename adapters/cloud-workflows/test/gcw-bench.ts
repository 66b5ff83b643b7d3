import { startGcw } from "@taskbridge/services/gcw";
import { type CloudWorkflowsOptions, cloudWorkflows } from "../src/index.ts";

export const demoLocation = { project: "demo", location: "europe-west1" } as const;
const parent = `projects/${demoLocation.project}/locations/${demoLocation.location}`;

export const nameOf = (workflow: string): string => `${parent}/workflows/${workflow}`;

interface SeenExecution {
  readonly name: string;
  readonly state: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface GcwBench {
  readonly endpoint: string;
  deploy(workflow: string, sourceContents: string, more?: object): Promise<void>;
  adapter(given?: Partial<CloudWorkflowsOptions>): ReturnType<typeof cloudWorkflows>;
  /** All of a workflow's executions, newest first. */
  executions(workflow: string): Promise<readonly SeenExecution[]>;
  stop(): Promise<void>;
}

export const gcwBench = async (): Promise<GcwBench> => {
  const { url, close } = await startGcw();
  const call = async (path: string, init?: RequestInit): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await fetch(`${url}/v1/${parent}/${path}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} for ${path}: ${text}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  };
  return {
    endpoint: url,
    deploy: async (workflow, sourceContents, more = {}) => {
      const body = JSON.stringify({ sourceContents, ...more });
      await call(`workflows?workflowId=${workflow}`, { method: "POST", body });
    },
    adapter: (given = {}) => cloudWorkflows({ ...demoLocation, endpoint: url, ...given }),
    executions: async (workflow) => {
      const found: SeenExecution[] = [];
      for (let token: unknown = ""; token !== undefined; ) {
        const page = await call(`workflows/${workflow}/executions?view=FULL&pageToken=${token}`);
        found.push(...((page.executions ?? []) as SeenExecution[]));
        token = page.nextPageToken;
      }
      return found;
    },
    stop: close,
  };
};
