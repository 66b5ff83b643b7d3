import { localAuth } from "./local-auth.ts";
import { type ExecutionsClient, loadSdk } from "./sdk.ts";

export interface ConnectionOptions {
  readonly project: string;
  readonly endpoint: URL | undefined;
  readonly keyFile: string | undefined;
  readonly credentials: { readonly client_email: string; readonly private_key: string } | undefined;
  readonly client: ExecutionsClient | undefined;
}

/** A request is given up after this long (milliseconds): over REST, Google's client sets no limit of its own. */
const requestTimeoutMs = 20_000;

/**
 * Loads and makes Google's client. Throws `misconfigured` where its package is not installed.
 *
 * Over REST, since callbacks and steps are there only, by the same authentication. No method of this client is retried by it (its list of
 * codes is empty for all of them), and requests are not either: the engine knows what a repeat means.
 */
export const connect = async ({
  project,
  endpoint,
  keyFile,
  credentials,
}: ConnectionOptions): Promise<ExecutionsClient> => {
  const { ExecutionsClient } = await loadSdk();
  const isLocal = endpoint?.protocol === "http:";
  return new ExecutionsClient({
    fallback: true,
    minifyJson: true,
    // Else it is looked for, for seconds, where credentials do not name one.
    projectId: project,
    ...(endpoint === undefined
      ? {}
      : { apiEndpoint: endpoint.hostname, port: Number(endpoint.port) || (isLocal ? 80 : 443) }),
    ...(isLocal ? { protocol: "http", auth: localAuth(requestTimeoutMs) } : {}),
    ...(keyFile === undefined ? {} : { keyFilename: keyFile }),
    ...(credentials === undefined ? {} : { credentials }),
    clientOptions: { transporterOptions: { timeout: requestTimeoutMs } },
  });
};
