import type { Command, Option } from "commander";

/**
 * A command line of `tasks` whose ID begins with a dash, with the ID behind `--`: clients may choose such IDs, and what tells
 * of a task names the bare command. Only where nothing else can be meant: one dash, no flag of the command, and no other ID.
 */
export const markDashId = (program: Command, args: readonly string[]): readonly string[] => {
  const [group, verb, ...words] = args;
  const command = group === "tasks" ? findCommand(findCommand(program, "tasks"), verb) : undefined;
  if (command === undefined || words.includes("--")) return args;
  const operands = operandsOf(words, command.options);
  const [position] = operands;
  const id = position === undefined ? undefined : words[position];
  if (position === undefined || operands.length > 1 || !/^-[^-]/.test(id ?? "")) return args;
  return [
    "tasks",
    ...args.slice(1, 2),
    ...words.slice(0, position),
    ...words.slice(position + 1),
    "--",
    ...words.slice(position, position + 1),
  ];
};

/** What to say when a command line of `tasks` cannot be read and may hold such an ID. */
export const dashIdHint = (args: readonly string[]): string | undefined =>
  args[0] === "tasks" && !args.includes("--") && args.slice(2).some((word) => /^-[^-]./.test(word))
    ? `An ID that begins with a dash goes behind all flags and --: taskbridge tasks ${args[1]} -- ID`
    : undefined;

const findCommand = (parent: Command | undefined, name: string | undefined): Command | undefined =>
  parent?.commands.find((command) => command.name() === name);

/** The places of the words that are neither flags of the command nor their values. */
const operandsOf = (words: readonly string[], options: readonly Option[]): readonly number[] => {
  const operands: number[] = [];
  let isValue = false;
  for (const [position, word] of words.entries()) {
    const option: Option | undefined = isValue ? undefined : options.find((known) => isFlag(word, known));
    if (!isValue && option === undefined && !isHelp(word)) operands.push(position);
    isValue = option?.required === true && (word === option.short || word === option.long);
  }
  return operands;
};

/** `-c`, `-cFILE`, `--config`, `--config=FILE`. */
const isFlag = (word: string, { short, long, required }: Option): boolean =>
  word === short || word === long || (required && (startsWith(word, short) || startsWith(word, long && `${long}=`)));

const startsWith = (word: string, beginning: string | undefined): boolean =>
  beginning !== undefined && word.startsWith(beginning);

const isHelp = (word: string): boolean => word === "-h" || word === "--help";
