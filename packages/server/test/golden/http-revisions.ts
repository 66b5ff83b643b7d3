import { headers20251125, http20251125, message20251125, opening20251125 } from "./http-2025-11-25.ts";
import { headers20260728, http20260728, message20260728 } from "./http-2026-07-28.ts";
import type { Exchange, HttpBase, HttpGroup } from "./http-exchange.ts";

export interface HttpRevision extends Omit<HttpBase, "url"> {
  /** Names the folder of its transcripts. */
  readonly name: string;
  /** Is sent before the exchanges of each group. */
  readonly opening: readonly Exchange[];
  readonly groups: readonly HttpGroup[];
}

export const httpRevisions: readonly HttpRevision[] = [
  {
    name: "http-2025-11-25",
    headers: headers20251125,
    message: message20251125,
    opening: opening20251125,
    groups: http20251125,
  },
  { name: "http-2026-07-28", headers: headers20260728, message: message20260728, opening: [], groups: http20260728 },
];
