import type { MethodName } from "../fake/routes.ts";
import type { Order } from "./orders.ts";

/** A moment at which a server is killed, or stopped until another one on the same store has gone on. */
export interface Point {
  readonly what: string;
  readonly kind: Order["kind"];
  readonly at:
    | {
        /** Where the server's own code has come to. */
        readonly server:
          | "after-create"
          | "before-start"
          | "after-accept"
          | "after-ref"
          | "before-answer"
          | "after-answer"
          | "before-cancel"
          | "after-cancel";
      }
    /** Google has carried this request out, and its answer is on the way. */
    | { readonly accepted: MethodName }
    /** The request was sent, and does not arrive. */
    | { readonly lost: MethodName };
  /**
   * What comes of the task. `done`: its one execution ends as the order wants. `unknown`: nothing was started, and nobody can know that.
   * Default `done`.
   */
  readonly end?: "done" | "unknown";
  readonly mutant?: "sent-again";
}

/** The last step of the client before the point: the call itself, an answer, a cancel, or only that it goes on to look. */
export const stepBefore = ({ at }: Point): "call" | "answer" | "cancel" | "inspect" => {
  const where = Object.values(at)[0] as string;
  if (/listCallbacks/.test(where)) return "inspect";
  if (/answer|sendHttpCallback/.test(where)) return "answer";
  return /cancel/.test(where) ? "cancel" : "call";
};

/** A kill at each of these leaves one execution at most, one answer to each question and one end. */
export const killPoints: readonly Point[] = [
  { what: "a start that is in the store only", kind: "works", at: { server: "after-create" }, end: "unknown" },
  { what: "a start that is about to be sent", kind: "works", at: { server: "before-start" }, end: "unknown" },
  { what: "a start that was sent and has not arrived", kind: "works", at: { lost: "createExecution" }, end: "unknown" },
  { what: "a start that Google has accepted and not answered", kind: "works", at: { accepted: "createExecution" } },
  { what: "a start that Google has accepted, of what asks", kind: "asks", at: { accepted: "createExecution" } },
  { what: "a start whose answer has come", kind: "works", at: { server: "after-accept" } },
  { what: "a start whose execution is in the store", kind: "works", at: { server: "after-ref" } },
  { what: "an answer that is about to be sent", kind: "asks", at: { server: "before-answer" } },
  { what: "an answer that was sent and has not arrived", kind: "asks", at: { lost: "sendHttpCallback" } },
  { what: "an answer that Google has accepted and not confirmed", kind: "asks", at: { accepted: "sendHttpCallback" } },
  { what: "an answer that was confirmed", kind: "asks", at: { server: "after-answer" } },
  { what: "a cancel that is about to be sent", kind: "endless", at: { server: "before-cancel" } },
  { what: "a cancel that was sent and has not arrived", kind: "endless", at: { lost: "cancelExecution" } },
  { what: "a cancel that Google has accepted and not confirmed", kind: "endless", at: { accepted: "cancelExecution" } },
  { what: "a cancel that was confirmed", kind: "endless", at: { server: "after-cancel" } },
];

/** One that is stopped at each of these, and goes on when another has, undoes nothing and starts nothing. */
export const stopPoints: readonly Point[] = [
  { what: "a start that is about to be sent", kind: "works", at: { server: "before-start" }, end: "unknown" },
  { what: "a start that Google has accepted", kind: "works", at: { accepted: "createExecution" } },
  { what: "a start that Google has accepted, of what asks", kind: "asks", at: { accepted: "createExecution" } },
  { what: "a start whose answer has come", kind: "asks", at: { server: "after-accept" } },
  { what: "an answer that is about to be sent", kind: "asks", at: { server: "before-answer" } },
  { what: "an answer that Google has accepted", kind: "asks", at: { accepted: "sendHttpCallback" } },
  { what: "a cancel that is about to be sent", kind: "endless", at: { server: "before-cancel" } },
  { what: "a cancel that Google has accepted", kind: "endless", at: { accepted: "cancelExecution" } },
  { what: "a look at a question", kind: "asks", at: { accepted: "listCallbacks" } },
];
