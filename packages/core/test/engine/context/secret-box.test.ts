import { describe, expect, it } from "@jest/globals";
import { encryptedBox, plainBox } from "../../../src/engine/context/secret-box.ts";
import { systemRandomBytes } from "../../../src/engine/context/task-id.ts";

const key = Buffer.alloc(32, 7);

describe("the secret box", () => {
  it("gives back what it sealed, unreadable meanwhile and never twice the same", () => {
    const box = encryptedBox(key, systemRandomBytes);
    const sealed = box.seal("task-token");
    expect(Buffer.from(sealed).toString("latin1")).not.toContain("task-token");
    expect(box.seal("task-token")).not.toEqual(sealed);
    expect(box.open(sealed)).toBe("task-token");
  });

  it("opens what was stored before there was a key, but nothing encrypted without it", () => {
    const box = encryptedBox(key, systemRandomBytes);
    expect(box.open(plainBox.seal("old"))).toBe("old");
    expect(() => plainBox.open(box.seal("new"))).toThrow("no encryption key is configured");
  });

  it("refuses what was changed, and keys of another length", () => {
    const box = encryptedBox(key, systemRandomBytes);
    const sealed = Buffer.from(box.seal("task-token"));
    sealed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1;
    expect(() => box.open(sealed)).toThrow();
    expect(() => encryptedBox(Buffer.alloc(16), systemRandomBytes)).toThrow("32 bytes are needed, got 16");
  });
});
