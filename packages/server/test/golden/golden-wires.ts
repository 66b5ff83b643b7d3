import { client20251125 } from "./client-2025-11-25.ts";
import { client20260728 } from "./client-2026-07-28.ts";
import { companions20251125 } from "./companions-2025-11-25.ts";
import { companionsNoTasks } from "./companions-no-tasks.ts";
import { dialect20251125 } from "./dialect-2025-11-25.ts";
import { dialect20260728 } from "./dialect-2026-07-28.ts";
import { dialectSep1686 } from "./dialect-sep-1686.ts";
import { type GoldenWire, goldenWire } from "./golden-wire.ts";
import { questions20251125 } from "./questions-2025-11-25.ts";
import { questions20260728 } from "./questions-2026-07-28.ts";
import { refusals20251125 } from "./refusals-2025-11-25.ts";
import { refusals20260728 } from "./refusals-2026-07-28.ts";
import { scenarios20251125 } from "./scenarios-2025-11-25.ts";
import { scenarios20260728 } from "./scenarios-2026-07-28.ts";
import { scenariosNoTasks } from "./scenarios-no-tasks.ts";
import { scenariosSep1686 } from "./scenarios-sep-1686.ts";
import { unmarked20251125 } from "./unmarked-2025-11-25.ts";

/** A wire is added here: its client, its scenarios, and the definitions that its messages have to fit. */
export const goldenWires: readonly GoldenWire[] = [
  goldenWire({
    name: "2026-07-28",
    dialect: dialect20260728,
    open: client20260728({ capabilities: { elicitation: {} } }),
    scenarios: [...scenarios20260728, ...questions20260728, ...refusals20260728],
  }),
  goldenWire({
    name: "2025-11-25",
    dialect: dialect20251125,
    open: client20251125,
    scenarios: [
      ...scenarios20251125,
      ...questions20251125,
      ...unmarked20251125,
      ...companions20251125,
      ...refusals20251125,
    ],
  }),
  goldenWire({
    name: "sep-1686",
    dialect: dialectSep1686,
    open: client20251125,
    scenarios: scenariosSep1686,
  }),
  goldenWire({
    name: "none",
    dialect: dialect20260728,
    open: client20260728({ tasks: false }),
    scenarios: [...scenariosNoTasks, ...companionsNoTasks],
  }),
];
