import { afterEach, describe, expect, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import type { TaskStore } from "@taskbridge/core/store";
import { fakeClock } from "@taskbridge/testkit";
import { withOutages } from "../outage/outage.ts";
import { whileTimePasses } from "../outage/pass-time.ts";
import { callForTask } from "../rpc-client.ts";
import { eventually, serve, stopAll } from "../serve.ts";
import { probeOf, type RawOptions, rawRequest } from "./raw-request.ts";

afterEach(stopAll);

const ready = { ready: true, store: "ok", draining: false, unavailable: [], version: "1.2.3" };
const podIp = { host: "10.244.1.17:3000" };

const probe = async (url: string, path: string, options: RawOptions = {}) => {
  const { status, body } = await rawRequest(probeOf(url, path), options);
  return [status, body === "" ? "" : JSON.parse(body)] as const;
};

describe("GET /healthz", () => {
  test("is answered whatever the store does, to whoever asks", async () => {
    const clock = fakeClock();
    const outage = withOutages(clock);
    const { url } = await serve({ store: outage.store, clock, fake: { clock } });
    for (const how of ["refuses", "hangs"] as const) {
      outage.begin(how);
      // No time passes, so that nothing that hangs comes to an end.
      expect(await probe(url, "/healthz", { headers: podIp })).toEqual([200, { alive: true }]);
    }
    outage.end();
    await clock.advance(10_000);
  });

  test("needs no token", async () => {
    const { url } = await serve({ auth: { authenticate: async () => ({ refused: { description: "no" } }) } });
    expect([await probe(url, "/healthz"), await probe(url, "/readyz")]).toEqual([
      [200, { alive: true }],
      [200, ready],
    ]);
  });
});

describe("GET /readyz", () => {
  test("tells how it stands, and is not to be kept", async () => {
    const { url } = await serve();
    expect(await probe(url, "/readyz?verbose")).toEqual([200, ready]);
    expect((await rawRequest(probeOf(url, "/readyz"))).headers).toMatchObject({ "cache-control": "no-store" });
  });

  test.each([
    ["by another Host, such as the address of a pod", podIp],
    ["by a name that was pointed here", { host: "evil.example" }],
    ["from a page of another site", { origin: "https://evil.example" }],
  ])("says no more than its status %s", async (_case, headers) => {
    const clock = fakeClock();
    const outage = withOutages(clock);
    const { url, backend } = await serve({ store: outage.store, clock, fake: { clock } });
    backend.faults.always("inspect", { before: "unavailable" });
    expect(await probe(url, "/readyz", { headers })).toEqual([200, { ready: true }]);
    outage.begin("refuses");
    await clock.advance(1_000);
    await probe(url, "/readyz", { headers });
    await clock.advance(5_000);
    expect(await probe(url, "/readyz", { headers })).toEqual([503, { ready: false }]);
  });

  test("a proxy on this machine speaks for strangers", async () => {
    const { url } = await serve();
    for (const name of ["X-Forwarded-For", "Forwarded", "Via"])
      expect(await probe(url, "/readyz", { headers: { [name]: "203.0.113.7" } })).toEqual([200, { ready: true }]);
  });

  test("names the adapters whose backends do not answer, which makes nobody unready", async () => {
    const clock = fakeClock();
    const { url, rpc, backend } = await serve({ clock, fake: { clock } });
    const taskId = await callForTask(rpc);
    backend.faults.always("inspect", { before: "unavailable" });
    await eventually(async () => {
      await clock.advance(10_000);
      await rpc("tasks/get", { taskId });
      return (await probe(url, "/readyz"))[1].unavailable.length > 0;
    });
    expect(await probe(url, "/readyz")).toEqual([200, { ...ready, unavailable: ["fake"] }]);
  });

  test("a store that is away makes it unready after five seconds, and ready again with its first answer", async () => {
    const clock = fakeClock();
    const outage = withOutages(clock);
    const { url } = await serve({ store: outage.store, clock, fake: { clock } });
    const downFor = { ...ready, store: "unavailable" };
    expect(await probe(url, "/readyz")).toEqual([200, ready]);
    outage.begin("refuses");
    await clock.advance(1_000);
    expect(await probe(url, "/readyz")).toEqual([200, downFor]);
    await clock.advance(4_999);
    expect(await probe(url, "/readyz")).toEqual([200, downFor]);
    await clock.advance(1_000);
    expect(await probe(url, "/readyz")).toEqual([503, { ...downFor, ready: false }]);
    outage.end();
    await clock.advance(1_000);
    expect(await probe(url, "/readyz")).toEqual([200, ready]);
  });

  test("a store that never says anything is away as well", async () => {
    const clock = fakeClock();
    const stored = memoryStore({ clock });
    const store: TaskStore = { ...stored, probe: () => new Promise(() => {}) };
    const { url } = await serve({ store, clock, fake: { clock } });
    const reported = await whileTimePasses(clock, probe(url, "/readyz"));
    expect(reported).toMatchObject([503, { ready: false, store: "unavailable" }]);
  });

  test("a server whose store has never answered a probe is not ready", async () => {
    const outage = withOutages();
    const { url, server } = await serve({ store: outage.store });
    outage.begin("refuses");
    const reported = { ready: false, store: "unavailable", draining: false };
    expect(await probe(url, "/readyz")).toMatchObject([503, reported]);
    expect(await server.readiness()).toMatchObject(reported);
  });
});

describe("both", () => {
  test.each(["/healthz", "/readyz"] as const)("%s: HEAD has no body, anything else is refused", async (path) => {
    const { url } = await serve();
    expect(await probe(url, path, { method: "HEAD" })).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const { status, headers } = await rawRequest(probeOf(url, path), { method });
      expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
    }
  });

  test.each(["/healthz", "/readyz"])("%s cannot be the path of MCP", async (path) => {
    const { server } = await serve();
    const refused = { code: "misconfigured", data: { path: "path" } };
    await expect(server.listen({ port: 0, path })).rejects.toMatchObject(refused);
  });
});
