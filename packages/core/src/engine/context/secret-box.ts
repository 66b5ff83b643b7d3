import { createCipheriv, createDecipheriv } from "node:crypto";
import { BridgeError } from "../../contract/bridge-error.ts";
import type { RandomBytes } from "./task-id.ts";

/** Keeps questions' secrets unreadable in the store. */
export interface SecretBox {
  seal(secret: string): Uint8Array;
  open(sealed: Uint8Array): string;
}

/** Stores secrets as they are: for servers without an encryption key. */
export const plainBox: SecretBox = {
  seal: (secret) => Buffer.concat([Buffer.of(0), Buffer.from(secret, "utf8")]),
  open: (sealed) => {
    if (sealed[0] !== 0)
      throw new BridgeError("misconfigured", "a stored secret is encrypted, but no encryption key is configured");
    return Buffer.from(sealed.subarray(1)).toString("utf8");
  },
};

/** AES-256-GCM. `key`: 32 bytes. Still opens what was stored before there was a key. */
export const encryptedBox = (key: Uint8Array, random: RandomBytes): SecretBox => {
  if (key.length !== 32)
    throw new BridgeError("misconfigured", `encryptionKey: 32 bytes are needed, got ${key.length}`);
  return {
    seal: (secret) => {
      const nonce = random(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce);
      const body = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.of(1), nonce, cipher.getAuthTag(), body]);
    },
    open: (sealed) => {
      if (sealed[0] === 0) return plainBox.open(sealed);
      const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(1, 13));
      decipher.setAuthTag(sealed.subarray(13, 29));
      return Buffer.concat([decipher.update(sealed.subarray(29)), decipher.final()]).toString("utf8");
    },
  };
};
