import type { Message } from "../rpc-client.ts";
import type { Line } from "./conversation.ts";
import { type Expectation, findFault } from "./official-schemas.ts";

/**
 * Which official definitions the messages of one wire's server have to fit. Each member answers undefined for what it has
 * no definition for, and that is a fault: nothing goes unchecked because nobody thought of it.
 */
export interface Dialect {
  result(method: string, message: Message): readonly Expectation[] | undefined;
  error(code: number, message: Message): readonly Expectation[] | undefined;
  notification(method: string, message: Message): readonly Expectation[] | undefined;
  /** Requests of the server to the client. */
  request(method: string, message: Message): readonly Expectation[] | undefined;
}

/** What is wrong with the server's messages, each with its line. */
export const validateLines = (lines: readonly Line[], dialect: Dialect): readonly string[] => {
  const asked = new Map<unknown, string>();
  return lines.flatMap(({ from, text }, index) => {
    if (text === undefined) return [];
    if (from === "server") return faultsOf(text, asked, dialect).map((fault) => `line ${index + 1}: ${fault}`);
    const { id, method } = JSON.parse(text) as Message;
    if (id !== undefined && method !== undefined) asked.set(id, method);
    return [];
  });
};

const faultsOf = (text: string, asked: ReadonlyMap<unknown, string>, dialect: Dialect): readonly string[] => {
  const message = JSON.parse(text) as Message;
  const expectations = expect(message, asked, dialect);
  if (expectations === undefined) return [`no definition is named for ${text}`];
  return expectations.map(findFault).filter((fault) => fault !== undefined);
};

const expect = (
  message: Message,
  asked: ReadonlyMap<unknown, string>,
  dialect: Dialect,
): readonly Expectation[] | undefined => {
  const { id, method, error, result } = message;
  if (method !== undefined)
    return id === undefined ? dialect.notification(method, message) : dialect.request(method, message);
  if (error !== undefined) return dialect.error(error.code, message);
  const request = asked.get(id);
  return request === undefined || result === undefined ? undefined : dialect.result(request, message);
};
