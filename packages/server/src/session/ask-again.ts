import type { BridgeError } from "@taskbridge/core";

/** How often a client whose answers do not fit is asked the same, before it is given up. */
export const maxAttempts = 3;

/** A question that was answered with what does not fit, as it is asked again. */
export const toAskedAgain = (message: string, fault: BridgeError): string =>
  `${message}\n\n(The answer did not fit. ${fault.message})`;
