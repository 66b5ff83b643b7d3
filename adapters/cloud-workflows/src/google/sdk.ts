import { BridgeError } from "@taskbridge/core/adapter";

export type { ExecutionsClient, protos } from "@google-cloud/workflows";

/** Google's package, which those install who use this adapter. Rejects with `misconfigured` where it is not there. */
export const loadSdk = async (): Promise<typeof import("@google-cloud/workflows")> => {
  try {
    return await import("@google-cloud/workflows");
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" || !String(message).includes("@google-cloud/workflows")) throw error;
    throw new BridgeError(
      "misconfigured",
      "the package @google-cloud/workflows is not installed: npm install @google-cloud/workflows",
      { notSent: true, data: { path: "" }, cause: error },
    );
  }
};
