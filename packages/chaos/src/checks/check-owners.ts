import { type Evidence, eventsOf } from "./evidence.ts";

/** Nobody saw a task of somebody else, or was told anything of it that is not said of an ID that nobody has. */
export const checkOwners = (evidence: Evidence): readonly string[] => {
  const ownerOfCall = new Map(eventsOf(evidence, "started").map(({ call, owner }) => [call, owner]));
  const callOfTask = new Map([
    // Those that were deleted since are known by what their clients were told.
    ...eventsOf(evidence, "acknowledged").map(({ taskId = "", call }) => [taskId, call] as const),
    ...evidence.tasks.map(({ taskId, call }) => [taskId, call] as const),
  ]);
  const listed = eventsOf(evidence, "listed").flatMap(({ owner, taskIds }) =>
    taskIds.flatMap((taskId) => {
      const of = ownerOfCall.get(callOfTask.get(taskId) ?? "");
      // One that nobody was ever told of may be taken back: its call was answered that it is not started.
      return of === undefined || of === owner ? [] : [`${owner} was shown the task ${taskId} of ${of}`];
    }),
  );
  const probed = eventsOf(evidence, "probed")
    .filter(({ foreign, unknown }) => foreign !== unknown)
    .map(({ verb, foreign, unknown }) => `${verb}: a foreign ID is answered "${foreign}", an unknown one "${unknown}"`);
  return [...listed, ...probed];
};
