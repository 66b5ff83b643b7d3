import type { Call } from "./call.ts";
import type { GoogleCode } from "./google-error.ts";
import type { MethodName } from "./routes.ts";

/** What goes wrong with one request. */
export type Fault =
  /** Refused before anything is carried out. */
  | { readonly kind: "error"; readonly code: GoogleCode; readonly message?: string; readonly retryAfterS?: number }
  /** The connection is cut and nothing carried out. */
  | { readonly kind: "cut" }
  /** Carried out, then the connection is cut in place of the answer. */
  | { readonly kind: "lost" }
  /** Carried out, then an error in place of the answer. */
  | { readonly kind: "error-after"; readonly code: GoogleCode }
  /** Carried out and answered after a while, by the fake's clock. */
  | { readonly kind: "delay"; readonly ms: number }
  /** Carried out, or not, and never answered. */
  | { readonly kind: "hang"; readonly isAccepted: boolean }
  /** Not carried out: a page of something that sits before Google. */
  | { readonly kind: "html"; readonly status: number; readonly retryAfterS?: number }
  /** Carried out; the answer's body is this text, with HTTP 200. */
  | { readonly kind: "garbage"; readonly body: string };

export type FaultRule = Fault | ((call: Call) => Fault | undefined);

/** What goes wrong from now on. */
export interface Faults {
  /** By method, or `*` for all that have no rule of their own. */
  readonly on?: Readonly<Partial<Record<MethodName | "*", FaultRule>>>;
  /** Permissions that the caller lacks: `["workflows.executions.create"]`. */
  readonly denies?: readonly string[];
  /** 401 for every token. */
  readonly tokensExpired?: boolean;
  /** Requests are taken and carried out only when this has ended. */
  readonly isFrozen?: boolean;
}

export const findFault = ({ on = {} }: Faults, call: Call): Fault | undefined => {
  const rule = on[call.method] ?? on["*"];
  return typeof rule === "function" ? rule(call) : rule;
};
