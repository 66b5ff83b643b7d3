import { BridgeError, type BridgeErrorCode, isBridgeError } from "@taskbridge/core/store";

interface Meaning {
  readonly code: BridgeErrorCode;
  readonly problem: string;
}

/** By the beginning of an SQLSTATE, the longer first. See https://www.postgresql.org/docs/current/errcodes-appendix.html */
const states: readonly (readonly [prefix: string, code: BridgeErrorCode, problem: string])[] = [
  ["25006", "unavailable", "takes no writes: a standby, or a server that was switched to read-only"],
  ["28", "misconfigured", "refuses to let us in: check user, password and pg_hba.conf"],
  ["3D000", "misconfigured", "has no such database: create it"],
  [
    "3F000",
    "misconfigured",
    "has lost its schema while it was open: restore it from a backup, or restart to begin anew",
  ],
  ["42P01", "misconfigured", "has lost its tables: restore them from a backup, or drop the schema to begin anew"],
  ["42883", "misconfigured", "has lost its functions: restore them from a backup, or drop the schema to begin anew"],
  ["42P07", "misconfigured", "has tables of another program in this schema: choose another with the option schema"],
  ["42703", "misconfigured", "has tables of another program in this schema: choose another with the option schema"],
  ["42723", "misconfigured", "has functions of another program in this schema: choose another with the option schema"],
  ["42501", "misconfigured", "refuses this to the user: see the rights in the README of @taskbridge/store-postgres"],
  ["XX001", "misconfigured", "is damaged; restore it from a backup"],
  ["XX002", "misconfigured", "has a damaged index; rebuild it with REINDEX"],
  [
    "08P01",
    "misconfigured",
    "does not speak PostgreSQL's protocol as expected; is there a pooler in between? Then name the server itself in the option directUrl",
  ],
  ["08", "unavailable", "cannot be reached"],
  ["40", "unavailable", "is too busy: the same rows are changed by many at once"],
  ["53", "unavailable", "has no room left: disk, memory or connections"],
  ["55P03", "unavailable", "did not get a lock in time"],
  ["57014", "unavailable", "took too long"],
  ["57", "unavailable", "is shutting down or starting up"],
  ["58", "unavailable", "cannot read or write its files"],
];

/** What Node tells of a certificate or of a server without TLS. */
const untrusted = /certificate|CERT_|SSL|TLS|self.signed/i;
/** Node's codes of a connection that could not be made or was lost. */
const unreachable =
  /^(ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_\w+|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|EMFILE|ENFILE|ENOENT)$/;
/** What `pg` and its pool say of one, without a code. */
const lost =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered|Client was closed)/;

/** The five characters of what the server has answered; undefined for an error of our own side. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === "string" && severity !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

/** True when the connection is of no more use: it is gone, or leads to a server that has become another's standby. */
export const isConnectionLost = (error: unknown): boolean => {
  const state = sqlStateOf(error);
  if (state !== undefined) return /^(08|57P|25006)/.test(state);
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return unreachable.test(String(code)) || lost.test(String(message));
};

/** True when nothing was done, and the same statement may succeed at once. */
export const isAborted = (error: unknown): boolean => ["40001", "40P01"].includes(sqlStateOf(error) ?? "");

const meaningOf = (error: unknown): Meaning => {
  const state = sqlStateOf(error);
  if (state !== undefined) {
    const [, code, problem] = states.find(([prefix]) => state.startsWith(prefix)) ?? ["", "internal", "failed"];
    return { code: code as BridgeErrorCode, problem };
  }
  if (isConnectionLost(error)) return { code: "unavailable", problem: "cannot be reached" };
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (untrusted.test(`${String(code)} ${String(message)}`))
    return { code: "misconfigured", problem: "and this side agree on no TLS: check sslmode and the certificates" };
  return { code: "internal", problem: "failed" };
};

/** Names the server and what it said, never the password. A BridgeError comes back as it is. */
export const toError = (error: unknown, location: string, operation: string): BridgeError => {
  if (isBridgeError(error)) return error;
  const { code, problem } = meaningOf(error);
  const { message, code: reported } = (error ?? {}) as { readonly message?: unknown; readonly code?: unknown };
  const said = [reported, message].filter((one) => one !== undefined && one !== "").join(": ");
  return new BridgeError(code, `${location} ${problem} (${said || String(error)})`, { operation, cause: error });
};
