import { jestConfig } from "@taskbridge/config/jest";
import { ensureGcw } from "@taskbridge/services/gcw";

// Once, before Jest's own workers start.
await ensureGcw();

export { jestConfig as default };
