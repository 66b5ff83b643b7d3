import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./run.mjs";

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} [version]
 * @property {boolean} [private]
 * @property {Record<string, unknown>} [exports]
 * @property {string[]} [files]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [devDependencies]
 */

/** The folders that pnpm-workspace.yaml globs. */
const parents = ["packages", "adapters", "examples"];

/** @returns {{ folder: string, manifest: Manifest }[]} Folders relative to the repository, in a stable order. */
export function workspacePackages() {
  return parents
    .filter((parent) => existsSync(join(root, parent)))
    .flatMap((parent) => readdirSync(join(root, parent)).map((name) => `${parent}/${name}`))
    .filter((folder) => existsSync(join(root, folder, "package.json")))
    .sort()
    .map((folder) => ({ folder, manifest: readManifest(folder) }));
}

/**
 * @param {string} folder
 * @returns {Manifest}
 */
export function readManifest(folder) {
  return JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
}
