import type { Message, SdkTransport } from "./sdk-client.ts";

export interface Insertion {
  /** Gives true for what nobody else is to hear. */
  take(message: Message, extra: unknown): boolean;
  onClosed(): void;
  onTrouble(): void;
}

interface Inserted {
  readonly before: Handlers;
  readonly ours: Handlers;
  hears: boolean;
}

type Handlers = Pick<SdkTransport, "onmessage" | "onclose" | "onerror">;

/** Those who hear a transport, the last first. */
const inserted = new WeakMap<SdkTransport, Inserted[]>();

/** Hears everything first. Others may do the same later, so that it leaves only when they have. */
export const insertHandlers = (
  transport: SdkTransport,
  { take, onClosed, onTrouble }: Insertion,
): { passOn(message: Message, extra: unknown): void; remove(): void } => {
  const { onmessage, onclose, onerror } = transport;
  const passOn = (message: Message, extra: unknown): void => onmessage?.(message, extra);
  const ours: Handlers = {
    onmessage: (message, extra) => {
      if (!place.hears || !take(message, extra)) passOn(message, extra);
    },
    onclose: () => {
      onclose?.();
      if (place.hears) onClosed();
    },
    onerror: (error) => {
      onerror?.(error);
      if (place.hears) onTrouble();
    },
  };
  const place: Inserted = { before: { onmessage, onclose, onerror }, ours, hears: true };
  inserted.set(transport, [place, ...(inserted.get(transport) ?? [])]);
  Object.assign(transport, ours);
  return {
    passOn,
    remove: () => {
      place.hears = false;
      inserted.set(transport, unwind(transport, inserted.get(transport) ?? []));
    },
  };
};

/** Takes out those that do not hear any more and are not hidden behind others. */
const unwind = (transport: SdkTransport, places: readonly Inserted[]): Inserted[] => {
  const [last, ...rest] = places;
  if (last === undefined || last.hears || transport.onmessage !== last.ours.onmessage) return [...places];
  Object.assign(transport, last.before);
  return unwind(transport, rest);
};
