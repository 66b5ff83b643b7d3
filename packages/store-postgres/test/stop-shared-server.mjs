const stopSharedServer = () => globalThis.sharedPostgres?.stop();

// biome-ignore lint/style/noDefaultExport: Jest calls the default export.
export { stopSharedServer as default };
