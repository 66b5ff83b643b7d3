/** How commands can speak to a server about tasks. `auto`: by the newest way that it has. */
export const taskWires = ["auto", "2026-07-28", "2025-11-25", "sep-1686"] as const;

/** How `call` can: also without tasks. */
export const callWires = ["auto", "2026-07-28", "2025-11-25", "sep-1686", "none"] as const;

export type CallWire = (typeof callWires)[number];
