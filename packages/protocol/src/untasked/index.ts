export { toHandle } from "./to-handle.ts";
export { type ProgressParams, progressMethod, readProgressToken, toProgress } from "./to-progress.ts";
