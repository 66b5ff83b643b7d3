import { hkdfSync, randomBytes } from "node:crypto";
import { BridgeError } from "@taskbridge/core";
import type { TaskStore } from "@taskbridge/core/store";
import { requireOption } from "./require-option.ts";

/** The keys of a server for what its clients keep for it, each 32 bytes, the same in all replicas. */
export interface StateKeys {
  /** Signs the state of questions that are asked by answers. */
  readonly requestState: Uint8Array;
  /** Seals the IDs of sessions and of requests to clients. */
  readonly sessions: Uint8Array;
}

/** Under which the store keeps a key that nobody has configured. */
const keyName = "server:state-key";
const minBytes = 32;

/**
 * Derives them from the configured key, else from one that the store keeps, so that replicas agree without being told; the
 * first one makes it. Rejects with `misconfigured` (`data.path`), and as the store does.
 */
export const openStateKeys = async (
  store: Pick<TaskStore, "values">,
  configured: Uint8Array | string | undefined,
): Promise<StateKeys> => {
  const key = configured === undefined ? await openStoredKey(store) : parseStateKey(configured);
  return { requestState: derive(key, "request state"), sessions: derive(key, "sessions") };
};

const parseStateKey = (key: Uint8Array | string): Uint8Array => {
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key;
  requireOption(bytes.length >= minBytes, "stateKey", `at least ${minBytes} bytes are needed`, bytes.length);
  return bytes;
};

const openStoredKey = async (store: Pick<TaskStore, "values">): Promise<Uint8Array> => {
  const kept = await store.values.read(keyName);
  if (kept !== undefined) return fromStored(kept);
  const fresh = randomBytes(minBytes).toString("base64url");
  if (await store.values.write(keyName, fresh, undefined)) return fromStored(fresh);
  const others = await store.values.read(keyName);
  if (others === undefined) throw new BridgeError("unavailable", `the store has lost ${keyName}`);
  return fromStored(others);
};

const fromStored = (stored: string): Uint8Array => {
  const bytes = Buffer.from(stored, "base64url");
  if (bytes.length >= minBytes) return bytes;
  throw new BridgeError("misconfigured", `stateKey: what the store keeps as ${keyName} is no key of 32 bytes`, {
    data: { path: "stateKey" },
  });
};

const derive = (key: Uint8Array, purpose: string): Uint8Array =>
  new Uint8Array(hkdfSync("sha256", key, "", `taskbridge ${purpose}`, 32));
