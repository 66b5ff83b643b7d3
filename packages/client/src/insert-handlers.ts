import type { Message, SdkTransport } from "./sdk-client.ts";

export interface Insertion {
  /** Gives true for what nobody else is to hear. */
  handle(message: Message, extra: unknown): boolean;
  onClosed(): void;
  onTrouble(): void;
}

interface Inserted {
  readonly before: Handlers;
  readonly ours: Handlers;
  isListening: boolean;
}

type Handlers = Pick<SdkTransport, "onmessage" | "onclose" | "onerror">;

/** Those who hear a transport, the last first. */
const inserted = new WeakMap<SdkTransport, Inserted[]>();

/** Hears everything first. Others may do the same later, so that it leaves only when they have. */
export const insertHandlers = (
  transport: SdkTransport,
  { handle, onClosed, onTrouble }: Insertion,
): { passOn(message: Message, extra: unknown): void; remove(): void } => {
  const { onmessage, onclose, onerror } = transport;
  const passOn = (message: Message, extra: unknown): void => onmessage?.(message, extra);
  const ours: Handlers = {
    onmessage: (message, extra) => {
      if (!insertion.isListening || !handle(message, extra)) passOn(message, extra);
    },
    onclose: () => {
      onclose?.();
      if (insertion.isListening) onClosed();
    },
    onerror: (error) => {
      onerror?.(error);
      if (insertion.isListening) onTrouble();
    },
  };
  const insertion: Inserted = { before: { onmessage, onclose, onerror }, ours, isListening: true };
  inserted.set(transport, [insertion, ...(inserted.get(transport) ?? [])]);
  Object.assign(transport, ours);
  return {
    passOn,
    remove: () => {
      insertion.isListening = false;
      inserted.set(transport, unwind(transport, inserted.get(transport) ?? []));
    },
  };
};

/** Takes out those that do not hear any more and are not hidden behind others. */
const unwind = (transport: SdkTransport, insertions: readonly Inserted[]): Inserted[] => {
  const [last, ...rest] = insertions;
  if (last === undefined || last.isListening || transport.onmessage !== last.ours.onmessage) return [...insertions];
  Object.assign(transport, last.before);
  return unwind(transport, rest);
};
