/** A tool may ask its caller this often before it answers or starts anything. */
export const maxRounds = 20;

/** Why a tool that asks once more is not carried out. */
export const tooManyRounds = (tool: string): string => `${tool} has asked ${maxRounds} times without coming to an end.`;
