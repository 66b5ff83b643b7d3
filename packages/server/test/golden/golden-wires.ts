import { client20260728 } from "./client-2026-07-28.ts";
import { dialect20260728 } from "./dialect-2026-07-28.ts";
import { type GoldenWire, goldenWire } from "./golden-wire.ts";
import { questions20260728 } from "./questions-2026-07-28.ts";
import { refusals20260728 } from "./refusals-2026-07-28.ts";
import { scenarios20260728 } from "./scenarios-2026-07-28.ts";
import { scenariosUntasked } from "./scenarios-untasked.ts";

/** A wire is added here: its client, its scenarios, and the definitions that its messages have to fit. */
export const goldenWires: readonly GoldenWire[] = [
  goldenWire({
    name: "2026-07-28",
    dialect: dialect20260728,
    open: client20260728({ capabilities: { elicitation: {} } }),
    scenarios: [...scenarios20260728, ...questions20260728, ...refusals20260728],
  }),
  goldenWire({
    name: "untasked",
    dialect: dialect20260728,
    open: client20260728({ tasks: false }),
    scenarios: scenariosUntasked,
  }),
];
