/** A schema in the form that Zod and the SDKs share: https://standardschema.dev */
export interface StandardSchema {
  readonly "~standard": {
    readonly validate: (value: unknown) => Outcome | Promise<Outcome>;
  };
}
interface Outcome {
  readonly issues?: readonly Issue[] | undefined;
}
interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** By name. A value has to fit each of the schemas. */
export type Definitions = Readonly<Record<string, readonly StandardSchema[]>>;
