import type { Client } from "pg";

/** What `pg` leaves out of its types. */
interface WithStream {
  readonly connection: { readonly stream: { destroy(): void; unref?(): void } };
}

/** Closes its connection without waiting for anybody. */
export const destroyClient = (client: Client): void => {
  (client as unknown as WithStream).connection.stream.destroy();
};

/** Its connection alone keeps no process alive. */
export const unrefClient = (client: Client): void => {
  (client as unknown as WithStream).connection.stream.unref?.();
};
