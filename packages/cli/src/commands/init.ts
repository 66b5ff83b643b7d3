import { constants, copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CliError, exitCodes, usageError } from "../cli-error.ts";
import { defaultConfigFile } from "../config/choose-config.ts";
import { printText } from "../terminal/follow-task.ts";
import { version } from "../version.ts";

const jobName = "word-count.mjs";

/** Writes a configuration with one working pipeline into the current folder. Overwrites nothing. */
export const init = async (): Promise<number> => {
  const present = [defaultConfigFile, jobName].filter((name) => existsSync(name));
  if (present.length > 0) throw usageError(`${present.join(" and ")} already here: nothing was written`);
  const template = new URL("../../template/", import.meta.url);
  const config = readFileSync(new URL(defaultConfigFile, template), "utf8");
  try {
    copyFileSync(new URL(jobName, template), jobName, constants.COPYFILE_EXCL);
    // Editors are to use the schema of this version, whatever is published later.
    writeFileSync(defaultConfigFile, config.replace("/taskbridge/", `/taskbridge@${version}/`), { flag: "wx" });
  } catch (error) {
    throw new CliError(`cannot write to ${join(process.cwd(), "/")}: ${(error as NodeJS.ErrnoException).code}`);
  }
  printText(nextSteps);
  return exitCodes.completed;
};

const nextSteps = `Wrote ${defaultConfigFile} and ${jobName}. Next:

  npx taskbridge call word_count --input '{"file":"${defaultConfigFile}"}' --config ${defaultConfigFile}
  npx taskbridge serve --config ${defaultConfigFile}
`;
