import { protocolVersion } from "@taskbridge/protocol/tasks-2025-11-25";
import type { Sealer } from "../sealer.ts";
import type { RequestId } from "../session/client-link.ts";
import { toMessages } from "./posted-messages.ts";
import type { StreamShape } from "./stream-tap.ts";

/** A wait for the result of a task whose stream a client has lost. */
export interface LostWait {
  readonly id: RequestId;
  readonly taskId: string;
}

/**
 * The event IDs by which a client goes on with a lost `tasks/result` at any replica: an ID says what was waited for, and nothing
 * is kept. https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export interface StreamIds {
  /** How the stream of an answer to this body is to look; undefined: it cannot be resumed. */
  shapeFor(body: unknown): StreamShape | undefined;
  /** What a client that brings this ID waits for. `over`: it has had its answer. Undefined: the ID is none of this session. */
  read(eventId: string | null): LostWait | "over" | undefined;
}

export interface StreamIdParts {
  readonly sealer: Sealer;
  /** The session; an ID is good in no other. */
  readonly about: string;
  readonly revision: () => string | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const over = "over";

export const createStreamIds = ({ sealer, about, revision }: StreamIdParts): StreamIds => {
  const subject = `stream of ${about}`;
  return {
    shapeFor: (body) => {
      const [message, ...more] = toMessages(body);
      const { id, method, params } = message ?? {};
      const taskId = params?.taskId;
      if (method !== "tasks/result" || id === undefined || typeof taskId !== "string" || more.length > 0)
        return undefined;
      // Clients of earlier revisions take an event without data for a broken message.
      if ((revision() ?? "") < protocolVersion) return undefined;
      const wait: LostWait = { id, taskId };
      const toOver = (): string => `id: ${sealer.seal({ over }, subject)}\n`;
      return {
        opening: encoder.encode(`id: ${sealer.seal(wait, subject)}\ndata:\n\n`),
        // Official clients know by a result that they have their answer, but not by an error, and would come back for more.
        mark: (frame) => (isError(frame) ? encoder.encode(`${toOver()}${decoder.decode(frame)}`) : frame),
        // Nor do they know then that they have taken it back.
        farewell: encoder.encode(`${toOver()}data:\n\n`),
      };
    },
    read: (eventId) => {
      if (eventId === null) return undefined;
      const kept = sealer.open(eventId, subject);
      if (typeof kept !== "object" || kept === null) return undefined;
      return over in kept ? over : (kept as LostWait);
    },
  };
};

/** The SDK writes each message as one frame. */
const isError = (frame: Uint8Array): boolean => {
  const data = decoder
    .decode(frame)
    .split("\n")
    .find((line) => line.startsWith("data: "));
  return data !== undefined && "error" in (JSON.parse(data.slice(6)) as object);
};
