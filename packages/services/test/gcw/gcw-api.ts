/** What an API of Google's answers: a resource, or the error. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A location's API as it is on the wire. */
export interface GcwApi {
  /** `path`: below the location, with the query. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  deploy(workflow: string, source: string, more?: object): Promise<Answer>;
  /** Starts an execution and gives its name. */
  start(workflow: string, argument?: unknown, labels?: Readonly<Record<string, string>>): Promise<string>;
  get(name: string): Promise<Answer["body"]>;
  /** Asks until it shows what is looked for; the limit is only there to end a test that fails. */
  until(name: string, shows: (execution: Answer["body"]) => boolean): Promise<Answer["body"]>;
  ended(name: string): Promise<Answer["body"]>;
  /** Callbacks that a step awaits, once there are so many. */
  waiting(name: string, count: number): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** A request to a callback by the name that the list gives. `token`: null for none. */
  deliver(callback: unknown, body: unknown, given?: { method?: string; token?: null }): Promise<Answer>;
}

const limitMs = 15_000;

const toAnswer = async (response: Response): Promise<Answer> => {
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : (JSON.parse(text) as Answer["body"]) };
};

export const gcwApi = (url: string, location = "projects/demo/locations/here"): GcwApi => {
  const call: GcwApi["call"] = async (method, path, body) =>
    toAnswer(
      await fetch(`${url}/v1/${location}/${path}`, {
        method,
        ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
      }),
    );
  const below = (name: string): string => name.slice(location.length + 1);
  const poll = async <Value>(inspect: () => Promise<Value | undefined>): Promise<Value> => {
    for (const deadline = Date.now() + limitMs; Date.now() < deadline; ) {
      const seen = await inspect();
      if (seen !== undefined) return seen;
    }
    throw new Error(`not within ${limitMs} ms`);
  };
  const get: GcwApi["get"] = async (name) => (await call("GET", below(name))).body;
  const until: GcwApi["until"] = (name, shows) =>
    poll(async () => {
      const execution = await get(name);
      return shows(execution) ? execution : undefined;
    });
  return {
    call,
    get,
    until,
    deploy: (workflow, sourceContents, more = {}) =>
      call("POST", `workflows?workflowId=${workflow}`, { sourceContents, ...more }),
    start: async (workflow, argument, labels) => {
      const given = argument === undefined ? {} : { argument: JSON.stringify(argument) };
      const { body } = await call("POST", `workflows/${workflow}/executions`, { ...given, labels });
      if (typeof body.name !== "string") throw new Error(JSON.stringify(body));
      return body.name;
    },
    ended: (name) => until(name, ({ state }) => state !== "ACTIVE"),
    waiting: (name, count) =>
      poll(async () => {
        const { body } = await call("GET", `${below(name)}/callbacks`);
        const open = ((body.callbacks ?? []) as Record<string, unknown>[]).filter(({ waiters }) => waiters === "1");
        return open.length === count ? open : undefined;
      }),
    deliver: async (callback, body, { method = "POST", token } = {}) =>
      toAnswer(
        await fetch(`${url}/v1/${String(callback).replace("/callback/", "/callbacks/")}`, {
          method,
          headers: {
            "content-type": "application/json",
            ...(token === null ? {} : { authorization: "Bearer token" }),
          },
          ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
        }),
      ),
  };
};
