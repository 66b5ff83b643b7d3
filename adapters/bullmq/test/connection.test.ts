import { expect, it } from "@jest/globals";
import { toRedis } from "../src/redis/connection.ts";

it("takes the settings of a connection, except those by which commands would be sent late", () => {
  const retryStrategy = () => 7;
  const given = { host: "db", connectTimeout: 11, socketTimeout: 12, disconnectTimeout: 13, retryStrategy };
  const { options } = toRedis({ ...given, enableOfflineQueue: true, maxRetriesPerRequest: null, lazyConnect: false });
  expect(options).toMatchObject({ ...given, enableOfflineQueue: false, maxRetriesPerRequest: 0, lazyConnect: true });
});

it("gives up soon where nothing is said", () => {
  expect(toRedis("redis://db:6380").options).toMatchObject({
    port: 6380,
    connectTimeout: 5_000,
    socketTimeout: 20_000,
  });
});
