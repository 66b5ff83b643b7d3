export { ensureMoto, findMoto } from "./find-moto.ts";
export { type MotoServer, startMoto, whyNoMoto } from "./moto-server.ts";
