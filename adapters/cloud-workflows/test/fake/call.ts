import type { MethodName } from "./routes.ts";

/** A request as it came. */
export interface Call {
  readonly method: MethodName;
  /** The resource: `projects/…/executions/…`, with the project as the caller names it. */
  readonly resource: string;
  readonly query: URLSearchParams;
  readonly httpMethod: string;
  readonly contentType: string;
  readonly body: string;
  /** Without `Bearer`; undefined when there was none. */
  readonly token: string | undefined;
  /** Origin of the URL that was asked for. */
  readonly origin: string;
  /** By the fake's clock. */
  readonly at: number;
}
