/** A message as it lies in the queue. */
export interface QueueMessage {
  readonly id: string;
  readonly body: string;
  /** By which it is deleted. */
  readonly handle: string;
}

/** The calls of SQS that we make. Each rejects with a `BridgeError`, and promptly once the signal fires. */
export interface QueueClient {
  /** Waits up to `waitSeconds` (20 at most) for the first message. */
  receive(waitSeconds: number, signal: AbortSignal): Promise<readonly QueueMessage[]>;
  delete(messages: readonly QueueMessage[], signal: AbortSignal): Promise<void>;
  /** Rejects when the queue cannot be used. */
  check(signal: AbortSignal): Promise<void>;
  close(): void;
}
