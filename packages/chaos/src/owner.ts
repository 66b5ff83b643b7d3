/** Somebody with a token. */
export interface Owner {
  readonly name: string;
  readonly token: string;
}
