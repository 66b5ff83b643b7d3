import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Puts what a server must remember into the hands of its clients, who can neither read nor change it. */
export interface Sealer {
  /** Base64url, never the same twice. `about`: what it is good for; it opens for nothing else. */
  seal(value: object, about: string): string;
  /**
   * As parsed JSON; undefined for whatever `seal` has not made of it, with this key, about this. What is longer than `maxLength`
   * (characters, default 4,096) is not looked at.
   */
  open(sealed: string, about: string, maxLength?: number): unknown;
}

const defaultMaxLength = 4_096;
const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM. `key`: 32 bytes. */
export const createSealer = (key: Uint8Array): Sealer => ({
  seal: (value, about) => {
    // Never from an injected source: a nonce that comes twice gives the key away.
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about));
    const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url");
  },
  open: (sealed, about, maxLength = defaultMaxLength) => {
    if (sealed.length > maxLength) return undefined;
    const bytes = Buffer.from(sealed, "base64url");
    // There is one way to write it, so that one thing has one name.
    if (bytes.length <= nonceBytes + tagBytes || bytes.toString("base64url") !== sealed) return undefined;
    try {
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, nonceBytes)).setAAD(Buffer.from(about));
      decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
      const body = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
      return JSON.parse(body.toString("utf8"));
    } catch {
      // Forged, or sealed with another key.
      return undefined;
    }
  },
});
