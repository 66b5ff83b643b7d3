import { jestConfig } from "@taskbridge/config/jest";
// Once, before Jest's own workers start.
import "./install-engines.mjs";

export { jestConfig as default };
