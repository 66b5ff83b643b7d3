import { BridgeError, misconfigured, withSignal } from "@taskbridge/core/adapter";
import type { Machine, SfnClient } from "./aws/client.ts";
import { toError } from "./aws/to-error.ts";
import { isMachineArn } from "./settings/parse-target.ts";

/** What is known of a state machine is asked again after this long (milliseconds): one may be deleted and made anew. */
const freshMs = 600_000;

export interface Machines {
  /** A machine's ARN, which a name has for good: also of one that is being deleted, or that may not be described. */
  arnOf(stateMachine: string, signal: AbortSignal): Promise<string>;
  /** The machine, which is of the type that this adapter is for. */
  resolve(stateMachine: string, signal: AbortSignal): Promise<Machine>;
}

/** All pages of the machines of this account and region. */
export async function* listMachines(client: SfnClient, signal: AbortSignal): AsyncGenerator<Machine> {
  let token: string | undefined;
  do {
    const page = await client.listMachines({ size: 1_000, token }, signal);
    yield* page.rows;
    token = page.next;
  } while (token !== undefined);
}

const standardOnly = "a name that is started once, cancel, questions and progress are Standard's alone";

/** Why a machine cannot be used by an adapter of this type; undefined: it can. */
const wrongTypeOf = ({ name, type }: Machine, wanted: string): string | undefined => {
  if (type.toLowerCase() === wanted) return undefined;
  return type === "EXPRESS"
    ? `${name} is an Express state machine: ${standardOnly}. Give it an adapter of its own with \`type: express\``
    : `${name} is a Standard state machine, and this adapter is of \`type: express\``;
};

export const machines = (client: SfnClient, type: "standard" | "express"): Machines => {
  const known = new Map<string, { readonly machine: Machine; readonly at: number }>();
  const arns = new Map<string, string>();
  let listing: Promise<void> | undefined;

  const readNames = async (): Promise<void> => {
    // Many share it, so that none of them gives it up for the others: each page ends by its own timeout.
    for await (const { name, arn } of listMachines(client, new AbortController().signal)) arns.set(name, arn);
  };

  const list = async (signal: AbortSignal): Promise<void> => {
    const share = (): Promise<void> => {
      listing ??= readNames().finally(() => {
        listing = undefined;
      });
      return listing;
    };
    try {
      await withSignal(signal, share);
    } catch (error) {
      throw toError(error, { action: "states:ListStateMachines", ifSent: "unavailable" });
    }
  };

  const arnOf = async (name: string, signal: AbortSignal): Promise<string> => {
    if (isMachineArn(name)) return name;
    // What others have begun to list may have passed a machine that is newer.
    for (let lists = listing === undefined ? 1 : 2; lists > 0 && !arns.has(name); lists--) await list(signal);
    const arn = arns.get(name);
    if (arn !== undefined) return arn;
    throw new BridgeError("not_found", `there is no state machine ${name} in this account and region`);
  };

  return {
    arnOf,
    resolve: async (stateMachine, signal) => {
      const before = known.get(stateMachine);
      if (before !== undefined && performance.now() - before.at < freshMs) return before.machine;
      const machine = await client.machine(await arnOf(stateMachine, signal), signal);
      if (!isMachineArn(machine.arn))
        throw new BridgeError(
          "bad_response",
          "what answered states:DescribeStateMachine names no machine (is it AWS?)",
        );
      const problem = wrongTypeOf(machine, type);
      if (problem !== undefined) throw misconfigured("stateMachine", problem);
      known.set(stateMachine, { machine, at: performance.now() });
      return machine;
    },
  };
};
