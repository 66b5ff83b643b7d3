import { report } from "./report.mjs";

report({ failure: { kind: "protocol", reason: "This call cannot be carried out.", code: "E_PROTOCOL" } });
process.exit(1);
