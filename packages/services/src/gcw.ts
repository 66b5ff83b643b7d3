export { ensureGcw, findGcw, type GcwEngine } from "./find-gcw.ts";
export { type GcwServer, startGcw, whyNoGcw } from "./gcw-server.ts";
