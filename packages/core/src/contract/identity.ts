/**
 * A *task* is what an MCP client polls. An *execution* is what a backend runs. The compiler keeps their IDs apart: none of these types is
 * assignable to another.
 */
declare const brand: unique symbol;

/**
 * The ID of a task. A server mints an ID of at least 128 random bits, which is safe in a URL. An ID that a client mints is unique only for its
 * owner. Records and stores put the scope of the owner before it (`<scope>~<id>`); clients neither see nor send the scope.
 */
export type TaskId = string & { readonly [brand]: "TaskId" };

/** JSON text by which an adapter finds its execution. The core stores it and never parses it. */
export type ExecutionRef = string & { readonly [brand]: "ExecutionRef" };

/**
 * The name under which an execution is started: `mcp-` and 32 hexadecimal digits. It is stored before the start is first sent. It fits the
 * rules for names of all backends (`^[a-z][a-z0-9_-]{0,62}$`) and reveals nothing about the task.
 */
export type StartKey = string & { readonly [brand]: "StartKey" };

/** The owner of a task: `local`, or `issuer|subject` of a verified token. */
export type OwnerId = string & { readonly [brand]: "OwnerId" };

/** The name of an adapter instance: its key in the configuration. */
export type AdapterId = string & { readonly [brand]: "AdapterId" };

/** Converts a text from a trusted source (a store, our own mint, a key of the configuration) to the type of an ID. */
export const asTaskId = (text: string): TaskId => text as TaskId;
export const asExecutionRef = (text: string): ExecutionRef => text as ExecutionRef;
export const asStartKey = (text: string): StartKey => text as StartKey;
export const asOwnerId = (text: string): OwnerId => text as OwnerId;
export const asAdapterId = (text: string): AdapterId => text as AdapterId;
