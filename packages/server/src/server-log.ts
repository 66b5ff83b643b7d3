/** Where diagnostics go; a pino logger fits. Never given a token, an argument or a result. */
export interface ServerLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

export const silentLog: ServerLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };
