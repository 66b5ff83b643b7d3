import { BridgeError } from "@taskbridge/core/adapter";
import { type CallDetails, unreachableBy } from "./to-error.ts";

/** Which credentials a client was to use. */
export interface CredentialsGiven {
  readonly keyFile: string | undefined;
  readonly credentials: object | undefined;
  readonly client: object | undefined;
}

/** As Google's client reads it. */
const variable = "GOOGLE_APPLICATION_CREDENTIALS";

interface Source {
  /** The option or the variable. */
  readonly name: string;
  readonly file?: string;
}

const sourceOf = ({ keyFile, credentials, client }: CredentialsGiven): Source => {
  if (client !== undefined) return { name: "client" };
  if (keyFile !== undefined) return { name: "keyFile", file: keyFile };
  if (credentials !== undefined) return { name: "credentials" };
  const file = process.env[variable];
  return file ? { name: variable, file } : { name: "application default credentials" };
};

/** What somebody has to put right. Google's own words quote nothing of the key. */
const faultOf = (error: unknown, code: unknown, message: string): string | undefined => {
  if (code === "ENOENT" || /does not exist, or it is not a file/.test(message)) return "there is no such file";
  if (error instanceof SyntaxError) return "is not the JSON of a key";
  // What it cannot read as a key's JSON, Google's client takes for the key itself.
  if (/^ERR_OSSL_/.test(String(code)) || /^key must be /.test(message)) return "holds no key that can be used";
  const [, lacking] = /^The incoming JSON object (.{1,100})/.exec(message) ?? [];
  return lacking === undefined ? undefined : `is no key that can be used: it ${lacking}`;
};

/** Whatever goes wrong with credentials has not reached the API, and may be well again by the next call. */
export const toCredentialsError = (error: unknown, { action }: CallDetails, given: CredentialsGiven): BridgeError => {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const text = String(message);
  const { name, file } = sourceOf(given);
  const at = file === undefined ? "" : `: ${file}`;
  const fault = faultOf(error, code, text);
  if (fault !== undefined) {
    const path = name === "keyFile" || name === "credentials" ? name : "";
    return new BridgeError("misconfigured", `${name}: ${fault}${at}`, { notSent: true, data: { path }, cause: error });
  }
  const unreached = unreachableBy(error);
  const why = /default credentials/.test(text)
    ? `the server has no Google credentials at present (\`gcloud auth application-default login\`, ${variable}, or \`keyFile\`)`
    : unreached === undefined
      ? `the server's Google credentials (${name}${at}) cannot be used at present${typeof code === "string" ? ` (${code})` : ""}`
      : `Google cannot be reached for a token: ${unreached}`;
  return new BridgeError("unavailable", `${why}, for ${action}`, { notSent: true, cause: error });
};
