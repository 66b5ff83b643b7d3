import { setRedaction } from "../hide-secrets.ts";
import type { Config } from "./config.ts";
import { loadConfig } from "./load-config.ts";

/** Reads the configuration of this run. What it took from outside the file is hidden from then on in all messages. */
export const openConfig = (file: string): Config => {
  const config = loadConfig(file);
  setRedaction(config.redact);
  return config;
};
