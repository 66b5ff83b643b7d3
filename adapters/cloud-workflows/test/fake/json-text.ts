/** An answer that is JSON already, member by member, so that lists of thousands are cheap. */
export class JsonText {
  readonly members: readonly string[];

  constructor(members: readonly string[]) {
    this.members = members;
  }
}

export const toText = (body: object | undefined): string => {
  if (body === undefined) return "";
  return body instanceof JsonText ? `{${body.members.join(",")}}` : JSON.stringify(body);
};
