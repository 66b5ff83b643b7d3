/** Which question of a task a request to a client puts. */
export interface QuestionMark {
  readonly taskId: string;
  readonly key: string;
}

/** No JSON holds it, so that it stays behind when the request goes out. */
const mark = Symbol("question");

/** The same parameters, with what they ask written on them for whoever sends them. */
export const markQuestion = (params: object, question: QuestionMark): object => ({ ...params, [mark]: question });

export const readMark = (params: object | undefined): QuestionMark | undefined =>
  (params as { readonly [mark]?: QuestionMark } | undefined)?.[mark];
