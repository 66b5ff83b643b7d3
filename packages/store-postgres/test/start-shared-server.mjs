import { findPostgres, startPostgres } from "@taskbridge/services/postgres";

/** Starts one server for all test files that need none of their own. They read its URL from the environment. */
const startSharedServer = async () => {
  const engine = await findPostgres();
  if (engine.kind !== "programs") return;
  globalThis.sharedPostgres = await startPostgres({ programs: engine.folder });
  process.env.TASKBRIDGE_SHARED_POSTGRES = globalThis.sharedPostgres.url;
};

// biome-ignore lint/style/noDefaultExport: Jest calls the default export.
export { startSharedServer as default };
