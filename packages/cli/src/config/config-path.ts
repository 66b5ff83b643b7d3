/** Where a value is in the configuration: member names and list positions. */
export type ConfigPath = readonly (string | number)[];

/** `tools[2].target.queue`. */
export const formatPath = (path: ConfigPath): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    if (!/^[\w$-]+$/.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");

/** The reverse, for paths that adapters and the engine give as text. */
export const parsePath = (text: string): ConfigPath =>
  Array.from(text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([^.[\]]+)/g), ([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? "") : (JSON.parse(quoted) as string);
  });
