/** How commands can speak to a server about tasks. `auto`: by the newest revision that it has tasks in. */
export const taskWires = ["auto", "2026-07-28", "2025-11-25"] as const;

/** How `call` can: also without tasks. */
export const callWires = ["auto", "2026-07-28", "2025-11-25", "none"] as const;

export type CallWire = (typeof callWires)[number];
