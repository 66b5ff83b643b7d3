export { type CompanionName, type CompanionTool, companionTools, maxWaitSeconds } from "./companion-tools.ts";
export { beyondTheEnd, pageToFetch, type ResultPage, toPageResult, toResultPage } from "./result-page.ts";
export { toCancelResult } from "./to-cancel-result.ts";
export { toEndedResult } from "./to-ended-result.ts";
export { type HandleOptions, isForModel, lookAgainAfterMs, toHandle } from "./to-handle.ts";
export { type ProgressParams, progressMethod, readProgressToken, toProgress } from "./to-progress.ts";
export { mostOpenTasks, toUnknownTask } from "./to-unknown-task.ts";
