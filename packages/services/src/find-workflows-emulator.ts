import { ensurePackage, findPackage, type PythonEngine, type PythonPackage } from "./python-packages.ts";

const emulator: PythonPackage = {
  name: "workflows-emulator",
  description: "an interpreter of workflows to compare ours with",
  variable: "TASKBRIDGE_WORKFLOWS_EMULATOR_PYTHON",
};

/** What is already there of workflows-emulator; `ensureWorkflowsEmulator` installs. */
export const findWorkflowsEmulator = (): Promise<PythonEngine> => findPackage(emulator);

/** Like `ensureMoto`. */
export const ensureWorkflowsEmulator = (): Promise<PythonEngine> => ensurePackage(emulator);
