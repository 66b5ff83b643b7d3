import { jestConfig } from "@taskbridge/config/jest";
import { ensureMoto } from "@taskbridge/services/moto";

// Once, before Jest's own workers start.
await ensureMoto();

export { jestConfig as default };
