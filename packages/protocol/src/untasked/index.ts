export { toHandle } from "./to-handle.ts";
export { type ProgressParams, readProgressToken, toProgress } from "./to-progress.ts";
