type EmitWarning = typeof process.emitWarning;

/** Of `gcp-metadata`, where the metadata server of Google's machines does not answer as it expects: everywhere else. */
const lookupWarning = "MetadataLookupWarning";

const filtered =
  (emit: EmitWarning): EmitWarning =>
  (...warning: readonly unknown[]): void => {
    if (warning[1] !== lookupWarning) Reflect.apply(emit, process, warning);
  };

let running = 0;
let replaced: { readonly by: EmitWarning; readonly emit: EmitWarning } | undefined;

/** Runs something that may look for Google's metadata server, without Node's warning that there is none: the error tells that. */
export const withoutLookupWarning = async <Value>(work: () => Promise<Value>): Promise<Value> => {
  if (running++ === 0) {
    const emit = process.emitWarning;
    replaced = { emit, by: filtered(emit) };
    process.emitWarning = replaced.by;
  }
  try {
    return await work();
  } finally {
    // What others have put in its place meanwhile stays.
    if (--running === 0 && replaced?.by === process.emitWarning) process.emitWarning = replaced.emit;
  }
};
