import { readFileSync } from "node:fs";
import { type Script, script } from "./redis-port.ts";

const folder = new URL("../../lua/", import.meta.url);
const include = /^--- @include "(.+)"$/gm;
const commentOrBlank = /^\s*(--.*)?\n/gm;

const readLua = (name: string): string =>
  readFileSync(new URL(`${name}.lua`, folder), "utf8").replace(include, (_, part: string) => readLua(part));

/** Reads a script of the folder `lua` with the files that it includes. Comments are not sent to the server. */
export const loadScript = (name: string): Script => script(readLua(name).replace(commentOrBlank, ""));
