import { extensionClient } from "./extension-client.ts";
import { firstSdkClient } from "./first-sdk-client.ts";
import { ourClient } from "./our-client.ts";
import { firstPlainHost, secondPlainHost } from "./plain-host.ts";
import type { DriverKind } from "./task-driver.ts";

/** Every kind of client that there is, newest wire first. */
export const driverKinds: readonly DriverKind[] = [
  ourClient("2026-07-28"),
  extensionClient,
  firstSdkClient,
  ourClient("2025-11-25"),
  ourClient("sep-1686"),
  firstPlainHost,
  secondPlainHost,
];
