import { describe, expect, it } from "@jest/globals";
import { asOwnerId } from "../../../src/contract/identity.ts";
import { isServerMinted, mintTaskId, parseTaskId, systemRandomBytes } from "../../../src/engine/context/task-id.ts";
import { isScoped, parseClientId, toPublicId, toScopedId } from "../../../src/engine/state/client-task-id.ts";

const owners = ["local", "https://idp.example|ann", "https://idp.example|bob", "", "ann~", "名"].map(asOwnerId);

describe("the name of a client's ID in the store", () => {
  it("is told apart by owner and by ID, and leads back to the ID", () => {
    const ids = ["a", "A", "-", "a.b:c_d-1", "x".repeat(128), "0".repeat(40)];
    const scoped = owners.flatMap((owner) => ids.map((id) => toScopedId(owner, id)));
    expect(new Set(scoped).size).toBe(owners.length * ids.length);
    expect(scoped.map(toPublicId)).toEqual(owners.flatMap(() => ids));
    for (const taskId of scoped) {
      expect(isScoped(taskId)).toBe(true);
      expect(taskId).toMatch(/^[0-9a-f]{32}~/);
      expect(parseTaskId(taskId)).toBe(taskId);
    }
  });

  it("stays as it is: records are found by it for ever", () => {
    expect(toScopedId(asOwnerId("local"), "a")).toBe("25bf8e1a2393f1108d37029b3df55932~a");
  });

  it("is no name that a server mints, and the other way round", () => {
    const minted = mintTaskId(systemRandomBytes);
    expect([isServerMinted(minted), isScoped(minted), toPublicId(minted)]).toEqual([true, false, minted]);
    for (const id of ["0".repeat(39), "0".repeat(41), "A".repeat(40), `${"0".repeat(7)}~${"0".repeat(32)}`])
      expect(isServerMinted(id)).toBe(false);
  });
});

const ann = asOwnerId("https://idp.example|ann");

describe("an ID that a client minted", () => {
  it("needs an owner", () => {
    expect(() => parseClientId("a", null)).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringContaining("does not authenticate") }),
    );
  });

  it.each(["a", "A.b:c_d-1", "x".repeat(128), "-", "..a", "0".repeat(40)])("may be %s", (id) => {
    expect(parseClientId(id, ann)).toEqual({ clientId: id, owner: ann });
  });

  it.each([
    ["", '""'],
    [".", '"."'],
    ["....", '"...."'],
    ["a/b", '"a/b"'],
    ["a~b", '"a~b"'],
    ["a b", '"a b"'],
    ["a\u0007", '"a\\u0007"'],
    ["a\n", '"a\\n"'],
    ["x".repeat(129), "129 characters"],
    ["a\u007f\u202e", '"a\\u007f\\u202e"'],
    ["tâche", '"t\\u00e2che"'],
    [null, "null"],
    [7, "number"],
    [{ a: 1 }, "object"],
  ])("is never %j", (id, got) => {
    expect(() => parseClientId(id, ann)).toThrow(
      `taskId: 1 to 128 of A-Z a-z 0-9 _ . : - are needed, not dots alone, got ${got}`,
    );
  });
});
