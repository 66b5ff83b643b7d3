/** Who a verified credential belongs to. */
export interface Identity {
  /** Who vouches for the subject: one issuer's `alice` is not another's. */
  readonly issuer: string;
  readonly subject?: string;
  readonly clientId?: string;
  readonly scopes?: readonly string[];
  /** Epoch milliseconds. */
  readonly expiresAt?: number;
}

export type AuthOutcome =
  | { readonly identity: Identity }
  | {
      /** For the `WWW-Authenticate` header. Absent: no credential came. */
      readonly refused: { readonly error?: "invalid_token" | "invalid_request"; readonly description: string };
    };

/** Verifies who sends an HTTP request. */
export interface Authenticator {
  /** Called once before serving. Rejects with `misconfigured` when it cannot work. */
  open?(): Promise<void>;
  /** Header names are lower-case. Rejects only when it cannot tell (503); a bad credential is an outcome. */
  authenticate(headers: Readonly<Record<string, string | undefined>>): Promise<AuthOutcome>;
}

/** The token of an `Authorization: Bearer` header. */
export const readBearer = (authorization: string | undefined): string | undefined =>
  /^Bearer +([\w.~+/-]+=*) *$/i.exec(authorization ?? "")?.[1];

/** RFC 6750 section 3. Descriptions are ours, never what was sent. */
export const toChallenge = (refused: { readonly error?: string; readonly description: string }): string =>
  refused.error === undefined
    ? "Bearer"
    : `Bearer error="${refused.error}", error_description="${refused.description}"`;
