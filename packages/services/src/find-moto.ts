import { ensurePackage, findPackage, type PythonEngine, type PythonPackage } from "./python-packages.ts";

const moto: PythonPackage = { name: "moto", description: "an AWS for tests", variable: "TASKBRIDGE_MOTO_PYTHON" };

/** What is already there of moto, an AWS whose state machines and queues run on this machine; `ensureMoto` installs. */
export const findMoto = (): Promise<PythonEngine> => findPackage(moto);

/**
 * Like `findMoto`, but installs it first where it is missing, with Python itself where that is missing too (as root, on
 * Debian and its kin). For one process before the tests, which takes a minute the first time.
 */
export const ensureMoto = (): Promise<PythonEngine> => ensurePackage(moto);
