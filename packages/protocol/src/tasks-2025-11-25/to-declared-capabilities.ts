import type { SessionCapabilities } from "./read-capabilities.ts";

/** The `capabilities` of an `initialize` that declares just these: `readCapabilities` gives the same again. */
export const toDeclaredCapabilities = (capabilities: SessionCapabilities): Readonly<Record<string, unknown>> => {
  const { form, url, sampling, taskElicitation, taskSampling, taskCancel } = capabilities;
  const requests = {
    ...(taskElicitation ? { elicitation: { create: {} } } : {}),
    ...(taskSampling ? { sampling: { createMessage: {} } } : {}),
  };
  const hasTasks = taskElicitation || taskSampling || taskCancel;
  return {
    ...(form || url ? { elicitation: { ...(form ? { form: {} } : {}), ...(url ? { url: {} } : {}) } } : {}),
    ...(sampling ? { sampling: {} } : {}),
    ...(hasTasks ? { tasks: { requests, ...(taskCancel ? { cancel: {} } : {}) } } : {}),
  };
};
