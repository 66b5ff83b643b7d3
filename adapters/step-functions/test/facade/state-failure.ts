/** Why a state failed, on its way up to whatever catches it. */
export class StateFailure extends Error {
  override readonly name = "StateFailure";
  readonly code: string | undefined;
  readonly reason: string | undefined;

  constructor(code?: string, reason?: string) {
    super(reason ?? code ?? "");
    this.code = code;
    this.reason = reason;
  }
}
