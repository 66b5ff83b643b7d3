/** The answer of `tasks/update` and `tasks/cancel`: nothing but that it was heard. */
export const acknowledgement: { readonly resultType: "complete" } = { resultType: "complete" };
