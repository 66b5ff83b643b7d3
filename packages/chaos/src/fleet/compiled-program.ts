import { fileURLToPath } from "node:url";

/** Where a program of this folder is, compiled: also for who runs from the sources. */
export const compiledProgram = (name: string): string =>
  fileURLToPath(new URL(`../../dist/fleet/${name}`, import.meta.url));
