import type { BullmqClient, QueuePort } from "./client.ts";

/** How far a call has come. */
export interface CallState {
  /** Something that changes Redis may have left. */
  wasSent: boolean;
  /** Something of it was carried out: whatever fails after that, the call has not come to nothing. */
  hasChanged: boolean;
}

type Change = <Value>(send: () => Promise<Value>) => Promise<Value>;

const ofCall = (queue: QueuePort, change: Change): QueuePort => ({
  ...queue,
  add: (...job) => change(() => queue.add(...job)),
  markCancelled: (...cancel) => change(() => queue.markCancelled(...cancel)),
  remove: (id) => change(() => queue.remove(id)),
  forget: (id) => change(() => queue.forget(id)),
  storeAnswer: (...answer) => change(() => queue.storeAnswer(...answer)),
  promote: (id) => change(() => queue.promote(id)),
});

/** The client for one call: nothing that changes Redis leaves once the call was given up, and `state` tells how far it has come. */
export const clientOfCall = (client: BullmqClient, signal: AbortSignal, state: CallState): BullmqClient => {
  const change: Change = async (send) => {
    signal.throwIfAborted();
    state.wasSent = true;
    const value = await send();
    state.hasChanged = true;
    return value;
  };
  return { ...client, open: async (location, parent) => ofCall(await client.open(location, parent), change) };
};
