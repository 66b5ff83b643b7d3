/**
 * What the server answers to single HTTP requests today: status line, headers and body, byte for byte but for IDs, times and
 * `Date`, against `transcripts/http-<revision>/<group>.jsonl`. They are recorded like the conversations in `golden.test.ts`.
 */
import { afterAll, beforeAll, describe, test } from "@jest/globals";
import { memoryStore } from "@taskbridge/core/memory";
import { fakeClock } from "@taskbridge/testkit";
import type { Authenticator } from "../../src/auth/authenticator.ts";
import { serve, stopAll } from "../serve.ts";
import type { Line } from "./conversation.ts";
import { type HttpBase, type Played, playExchange } from "./http-exchange.ts";
import { type HttpRevision, httpRevisions } from "./http-revisions.ts";
import { toTranscript } from "./to-transcript.ts";
import { matchTranscript } from "./transcript-file.ts";

const auth: Authenticator = {
  authenticate: async ({ authorization }) => {
    const subject = /^Bearer (alice|bob)$/.exec(authorization ?? "")?.[1];
    if (subject !== undefined) return { identity: { issuer: "test", subject } };
    if (authorization === undefined) return { refused: { description: "A token is needed" } };
    return { refused: { error: "invalid_token", description: "The token is unknown" } };
  },
};

let url: string;
beforeAll(async () => {
  const clock = fakeClock();
  ({ url } = await serve({
    store: memoryStore({ clock }),
    clock,
    fake: { clock },
    auth,
    limits: { maxBodyBytes: 100_000 },
  }));
});
afterAll(stopAll);

/** The lines of a group, which opens a session of its own where the revision has sessions. */
const play = async (
  { headers, message, opening }: HttpRevision,
  exchanges: HttpRevision["groups"][number]["exchanges"],
): Promise<readonly Line[]> => {
  const lines: Line[] = [];
  let held: Played["rest"];
  let base: HttpBase = { url, headers, message };
  for (const exchange of [...opening, ...exchanges]) {
    const played = await playExchange(base, exchange);
    lines.push(...played.lines, ...((await held?.()) ?? []));
    held = played.rest;
    const session = played.headers["mcp-session-id"];
    if (exchange === opening[0]) base = { ...base, headers: { ...headers, "mcp-session-id": String(session) } };
  }
  return lines;
};

describe.each(httpRevisions)("$name", ({ name, groups, ...revision }) => {
  test.each(groups)("$name", async ({ name: group, exchanges }) => {
    matchTranscript(`${name}/${group}`, toTranscript(await play({ name, groups, ...revision }, exchanges)));
  });
});
