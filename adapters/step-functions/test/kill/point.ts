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
    /** AWS has carried this request out, and its answer is on the way. */
    | { readonly accepted: string }
    /** The request was sent, and does not arrive. */
    | { readonly lost: string };
  /** The other one goes on until the second question is asked, and leaves that to the one that was stopped. */
  readonly wakesAtSecond?: boolean;
  readonly mutant?: "key-per-attempt";
}

/** The last step of the client before the point: the call itself, an answer, a cancel, or only that it goes on to look. */
export const stepBefore = ({ at }: Point): "call" | "answer" | "cancel" | "inspect" => {
  const where = Object.values(at)[0] as string;
  if (/DescribeExecution|History/.test(where)) return "inspect";
  if (/answer|SendTask/.test(where)) return "answer";
  return /cancel|StopExecution/.test(where) ? "cancel" : "call";
};

/** A kill at each of these leaves one execution, one answer to each question and one end. */
export const killPoints: readonly Point[] = [
  { what: "a start that is in the store only", kind: "works", at: { server: "after-create" } },
  { what: "a start that is about to be sent", kind: "works", at: { server: "before-start" } },
  { what: "a start that was sent and has not arrived", kind: "works", at: { lost: "StartExecution" } },
  { what: "a start that AWS has accepted and not answered", kind: "works", at: { accepted: "StartExecution" } },
  { what: "a start that AWS has accepted, of what asks", kind: "asks", at: { accepted: "StartExecution" } },
  { what: "a start whose answer has come", kind: "works", at: { server: "after-accept" } },
  { what: "a start whose execution is in the store", kind: "works", at: { server: "after-ref" } },
  { what: "an answer that is about to be sent", kind: "asks", at: { server: "before-answer" } },
  { what: "an answer that was sent and has not arrived", kind: "asks", at: { lost: "SendTaskSuccess" } },
  { what: "an answer that AWS has accepted and not confirmed", kind: "asks", at: { accepted: "SendTaskSuccess" } },
  { what: "an answer that was confirmed", kind: "asks", at: { server: "after-answer" } },
  { what: "a cancel that is about to be sent", kind: "endless", at: { server: "before-cancel" } },
  { what: "a cancel that was sent and has not arrived", kind: "endless", at: { lost: "StopExecution" } },
  { what: "a cancel that AWS has accepted and not confirmed", kind: "endless", at: { accepted: "StopExecution" } },
  { what: "a cancel that was confirmed", kind: "endless", at: { server: "after-cancel" } },
];

/** One that is stopped at each of these for longer than its calls may take, and goes on when another has, undoes nothing. */
export const stopPoints: readonly Point[] = [
  { what: "a start that is about to be sent", kind: "asks", at: { server: "before-start" } },
  { what: "a start that AWS has accepted", kind: "works", at: { accepted: "StartExecution" } },
  { what: "a start that AWS has accepted, of what asks", kind: "asks", at: { accepted: "StartExecution" } },
  { what: "a start whose answer has come", kind: "asks", at: { server: "after-accept" } },
  { what: "an answer that is about to be sent", kind: "asks", at: { server: "before-answer" } },
  { what: "an answer that AWS has accepted", kind: "asks", at: { accepted: "SendTaskSuccess" } },
  { what: "a cancel that is about to be sent", kind: "endless", at: { server: "before-cancel" } },
  { what: "a cancel that AWS has accepted", kind: "endless", at: { accepted: "StopExecution" } },
  { what: "a look that finds it running", kind: "until-reported", at: { accepted: "DescribeExecution" } },
];

/** Nor does one that still believes, when it goes on, what it was told before it was stopped. */
export const stalePoints: readonly Point[] = [
  { what: "a look that finds it running", kind: "until-reported", at: { accepted: "DescribeExecution" } },
  { what: "a look at a question", kind: "asks", at: { accepted: "GetExecutionHistory" } },
  {
    what: "a look at a question, until the next one is asked",
    kind: "asks",
    at: { accepted: "GetExecutionHistory" },
    wakesAtSecond: true,
  },
];
