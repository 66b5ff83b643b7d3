export { type CompanionName, type CompanionTool, companionTools, maxWaitSeconds } from "./companion-tools.ts";
export { beyondTheEnd, pageToFetch, type ResultPage, toPageResult, toResultPage } from "./result-page.ts";
export { toCancelResult } from "./to-cancel-result.ts";
export { toEndedResult } from "./to-ended-result.ts";
export { advisedPollMs, type HandleOptions, isForModel, toHandle } from "./to-handle.ts";
export { type ProgressParams, progressMethod, readProgressToken, toProgress } from "./to-progress.ts";
export { maxOpenTasks, toUnknownTask } from "./to-unknown-task.ts";
