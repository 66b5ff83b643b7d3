import { BridgeError, isBridgeError } from "@taskbridge/core";

/** For `catch`: what does not fit is named as the client has sent it. `location`: where that stands, up to its own name. */
export const nameTheField =
  (location: string) =>
  (error: unknown): never => {
    if (!isBridgeError(error) || error.code !== "invalid_input") throw error;
    const path = `${location}${String(error.data?.path)}`;
    throw new BridgeError("invalid_input", `${location}${error.message}`, { data: { path }, cause: error });
  };
