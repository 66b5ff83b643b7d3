import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";

const searchPath = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"];

export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Paths of the programs of these names, the first name first: those on the PATH, and in the usual places beside it. */
export const findPrograms = async (names: readonly string[]): Promise<readonly string[]> => {
  const folders = [...new Set([...(process.env.PATH ?? "").split(delimiter), ...searchPath])].filter(
    (one) => one !== "",
  );
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  const there = await Promise.all(paths.map(isProgram));
  return paths.filter((_, index) => there[index]);
};
