import { readFileSync } from "node:fs";
import { isObject, misconfigured } from "@taskbridge/core/adapter";

/** Looks whether a file can hold a key; it is Google's client that reads it. Throws `misconfigured` with `data.path`. */
export const checkKeyFile = (file: string): void => {
  const wrong = (what: string): Error => misconfigured("keyFile", `${what}: ${file}`);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(code === "ENOENT" ? "there is no such file" : `cannot be read (${code})`);
  }
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    // What the parser says of it may quote it.
    throw wrong("is not JSON");
  }
  if (!isObject(key) || typeof key.type !== "string") throw wrong('is no key (JSON with "type")');
};
