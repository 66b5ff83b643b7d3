/**
 * Who may import whom. The first layer whose `files` begins a source file's path owns that file. A layer may always import
 * itself, and beyond that only what `may` lists:
 *
 * - another layer, by its name, through a relative path (only ever inside one package);
 * - a module, by its exact specifier, or with all its subpaths: `hono/*`;
 * - `node:*`;
 * - `external`: any other package that the importing package declares, and that is not one of ours or an MCP SDK.
 *
 * `dynamic` lists what is allowed in `import()` only. With `oneFilePerPackage`, an external package is imported by a single
 * file, so that a vendor's SDK stays behind one port.
 *
 * @typedef {object} Layer
 * @property {string} name
 * @property {string} files
 * @property {readonly string[]} may
 * @property {readonly string[]} [dynamic]
 * @property {boolean} [oneFilePerPackage]
 */

const core = ["@taskbridge/core", "@taskbridge/core/*"];
const protocol = ["@taskbridge/protocol", "@taskbridge/protocol/*"];
const server = ["@taskbridge/server", "@taskbridge/server/*"];
const client = ["@taskbridge/client", "@taskbridge/client/*"];
const mcpClient = [
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/client/*",
  "@modelcontextprotocol/ext-tasks",
  "@modelcontextprotocol/ext-tasks/*",
];
const protocolWires = ["tasks-2026-07-28", "tasks-2025-11-25", "tasks-sep1686", "no-tasks"];

/** The engine's folders: each may import those before it. The files next to the folders put them together. */
const engineFolders = ["context", "state", "questions", "start", "inspect", "outbox", "read"];
const engineRooms = engineFolders.map((folder) => `core/engine/${folder}`);
const engineLibraries = ["core/contract", "ajv", "ajv/*", "ajv-formats", "@opentelemetry/api", "node:*"];

/**
 * Tests and measurements that reach into another package on purpose, and into which folder of it.
 * @type {Readonly<Record<string, string>>}
 */
export const insiders = {
  // Writes a million records as the store keeps them, which takes the store itself an hour; a sample is then checked by the contract.
  "packages/bench/src/write-redis.ts": "packages/store-redis/dist/",
};

/** @type {readonly Layer[]} */
export const layers = [
  { name: "core/contract", files: "packages/core/src/contract/", may: [] },
  ...engineFolders.map((folder, index) => ({
    name: `core/engine/${folder}`,
    files: `packages/core/src/engine/${folder}/`,
    may: [...engineFolders.slice(0, index).map((below) => `core/engine/${below}`), ...engineLibraries],
  })),
  { name: "core/engine", files: "packages/core/src/engine/", may: [...engineRooms, ...engineLibraries] },
  { name: "core/memory-store", files: "packages/core/src/memory-", may: ["core/contract", "node:*"] },
  {
    name: "core/testing",
    files: "packages/core/src/testing",
    may: ["core", "core/contract", "core/memory-store", "node:*"],
  },
  {
    name: "core",
    files: "packages/core/src/",
    may: ["core/contract", "core/engine", ...engineRooms, "core/memory-store", "node:*"],
  },

  ...protocolWires.map((taskWire) => ({
    name: `protocol/${taskWire}`,
    files: `packages/protocol/src/${taskWire}/`,
    may: ["protocol", ...core, "zod", "zod/*"],
  })),
  {
    name: "protocol",
    files: "packages/protocol/src/",
    may: [...protocolWires.map((taskWire) => `protocol/${taskWire}`), ...core, "zod", "zod/*"],
  },

  {
    name: "server",
    files: "packages/server/src/",
    may: [...core, ...protocol, "@modelcontextprotocol/*", "external", "node:*"],
  },
  {
    name: "client",
    files: "packages/client/src/",
    may: [...mcpClient, "external", "node:*"],
  },
  {
    name: "cli",
    files: "packages/cli/src/",
    may: [...core, ...server, ...client, ...mcpClient, "external", "node:*"],
    dynamic: ["@taskbridge/adapter-*", "@taskbridge/store-*"],
  },

  { name: "services", files: "packages/services/src/", may: ["node:*", "yaml"] },
  // The whole of it, as users have it.
  {
    name: "chaos",
    files: "packages/chaos/src/",
    may: ["@taskbridge/*", "@modelcontextprotocol/*", "external", "node:*"],
  },
  { name: "testkit", files: "packages/testkit/src/", may: [...core, "node:*"] },
  { name: "bench", files: "packages/bench/src/", may: ["@taskbridge/*", "external", "node:*"] },
  { name: "store", files: "packages/store-", may: ["@taskbridge/core/store", "external", "node:*"] },
  {
    name: "adapter",
    files: "adapters/",
    may: ["@taskbridge/core/adapter", "external", "node:*"],
    oneFilePerPackage: true,
  },
  {
    name: "example",
    files: "examples/",
    may: ["@taskbridge/*", "@modelcontextprotocol/*", "external", "node:*"],
  },
];
