/** Something that an open engine does by itself. */
export interface Service {
  start(): void;
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}
