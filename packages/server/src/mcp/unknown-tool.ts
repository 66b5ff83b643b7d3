import { ProtocolError } from "@modelcontextprotocol/server";
import { invalidParamsCode } from "@taskbridge/protocol";

/** Of a name more is not repeated (characters). */
const maxShown = 100;

/** The refusal of a call of a tool that does not exist. */
export const unknownTool = (name: unknown): ProtocolError => {
  const text = String(name);
  const shown = text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
  return new ProtocolError(invalidParamsCode, `Unknown tool: ${shown}`);
};
