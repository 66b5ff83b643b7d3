import { connect } from "node:net";

/** A start-up message: version 3.0, user and database `postgres`. */
const greeting = Buffer.concat([
  Buffer.from([0, 0, 0, 41, 0, 3, 0, 0]),
  Buffer.from("user\0postgres\0database\0postgres\0\0"),
]);

/** Whether a PostgreSQL, or a pooler before it, is there and has replayed its log: until then it answers an error. */
export const answersPostgres = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.setTimeout(1_000, () => settle(false));
    socket.on("error", () => settle(false));
    socket.on("close", () => settle(false));
    // R: it asks for a password, or for none.
    socket.on("data", (chunk) => settle(String(chunk).startsWith("R")));
    socket.write(greeting);
  });
