/**
 * The two vocabularies of the bridge, kept apart by the compiler: a *task* is what an MCP client polls, an
 * *execution* is what a backend runs. None of these strings is assignable to another.
 */
declare const brand: unique symbol;

/**
 * The ID of a task: minted by a server, at least 128 random bits, URL-safe; or by a client, and then unique for its owner
 * only. In records and stores the latter has its owner's scope before it (`<scope>~<id>`), which owners neither see nor send.
 */
export type TaskId = string & { readonly [brand]: "TaskId" };

/** Opaque JSON text by which an adapter finds its execution again. The core stores it and never parses it. */
export type ExecutionRef = string & { readonly [brand]: "ExecutionRef" };

/**
 * The name under which an execution is started: `mcp-` and 32 hex digits, stored before the first send. Fits every
 * backend's own name rules (`^[a-z][a-z0-9_-]{0,62}$`) and reveals nothing about the task.
 */
export type StartKey = string & { readonly [brand]: "StartKey" };

/** Whose task it is: `local`, or `issuer|subject` of verified auth. */
export type OwnerId = string & { readonly [brand]: "OwnerId" };

/** The name the user gave an adapter instance (its key in the configuration). */
export type AdapterId = string & { readonly [brand]: "AdapterId" };

/** Marks text from a trusted place (a store's row, our own mint, a configuration key) as an identity of the wanted kind. */
export const asTaskId = (text: string): TaskId => text as TaskId;
export const asExecutionRef = (text: string): ExecutionRef => text as ExecutionRef;
export const asStartKey = (text: string): StartKey => text as StartKey;
export const asOwnerId = (text: string): OwnerId => text as OwnerId;
export const asAdapterId = (text: string): AdapterId => text as AdapterId;
