import { isObject } from "@taskbridge/core/adapter";

type Fields = Readonly<Record<string, unknown>>;

/** What a waiting task was given, as far as it is about us. */
export interface CallbackParameters {
  /** Undefined: its author left the token out, or more than one text may be it, so that nobody can answer. */
  readonly token: string | undefined;
  /** The map `mcp` beside the token, else at the top of the message that holds it or of the parameters. */
  readonly mcp: Fields | undefined;
}

/** A map within a map within parameters. */
const deepest = 12;

/** Where integrations take what is sent. JSON within a text is read here only: elsewhere, a text may be what a caller typed. */
const bodies: ReadonlySet<string> = new Set([
  "Body",
  "Entries.Detail",
  "Input",
  "Message",
  "MessageBody",
  "Payload",
  "RequestBody",
]);

interface LeafLocation {
  readonly key: string;
  readonly path: string;
  readonly depth: number;
  readonly holder: unknown;
  readonly body: unknown;
}

interface Leaf extends LeafLocation {
  readonly text: string;
}

const parsed = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const leavesOf = (value: unknown, location: LeafLocation): readonly Leaf[] => {
  const { path, depth } = location;
  const inner = typeof value === "string" && bodies.has(path) ? parsed(value) : value;
  const body = bodies.has(path) ? inner : location.body;
  if (typeof inner === "string") return inner === "" ? [] : [{ ...location, text: inner, body }];
  if (depth >= deepest) return [];
  if (Array.isArray(inner)) return inner.flatMap((item) => leavesOf(item, { ...location, depth: depth + 1, body }));
  if (!isObject(inner)) return [];
  // A variable of a container's environment.
  const named =
    typeof inner.Name === "string" && typeof inner.Value === "string" ? { [inner.Name]: inner.Value } : inner;
  return Object.entries(named).flatMap(([name, item]) =>
    leavesOf(item, { key: name, path: path === "" ? name : `${path}.${name}`, depth: depth + 1, holder: inner, body }),
  );
};

/** As AWS makes them. */
const isShaped = ({ text }: Leaf): boolean => /^[A-Za-z0-9+/]{100,}={0,2}$/.test(text);

const isNamed = ({ key }: Leaf): boolean => /token/i.test(key) && !/(request|session|next)_?token/i.test(key);

/** The likeliest first, of those in one map. */
const names = [/^(callback|task)_?token$/i, /^token$/i, /token/i];

/** What lies deeper may be a caller's, and of maps at the same depth either may be: then none is taken. */
const shallowest = (leaves: readonly Leaf[]): Leaf | undefined => {
  const minimum = Math.min(...leaves.map(({ depth }) => depth));
  const [first, ...others] = leaves.filter(({ depth }) => depth === minimum);
  if (others.some(({ holder, text }) => holder !== first?.holder && text !== first?.text)) return undefined;
  const together = [first, ...others].filter((leaf) => leaf !== undefined);
  return names.map((name) => together.find(({ key }) => name.test(key))).find((leaf) => leaf !== undefined);
};

/**
 * AWS tells what a task was given, not under which name its token is: a text of a token's shape whose name says so. Without one, the only
 * text of that shape; without that too, as local engines make shorter ones, what is named so in the message itself.
 */
const findToken = (leaves: readonly Leaf[], top: unknown): Leaf | undefined => {
  const shaped = leaves.filter(isShaped);
  const named = shaped.filter(isNamed);
  if (named.length > 0) return shallowest(named);
  if (shaped.length > 0) return shaped.every(({ text }) => text === shaped[0]?.text) ? shaped[0] : undefined;
  return shallowest(leaves.filter((leaf) => isNamed(leaf) && (leaf.holder === leaf.body || leaf.holder === top)));
};

/** `parameters`: as the history has them, JSON. */
export const readParameters = (parameters: string): CallbackParameters => {
  const top = parsed(parameters);
  const leaves = leavesOf(top, { key: "", path: "", depth: 0, holder: undefined, body: undefined });
  const token = findToken(leaves, top);
  const locations = [token?.holder, token?.body, top];
  const mcp = locations.map((location) => (isObject(location) ? location.mcp : undefined)).find(isObject);
  return { token: token?.text, mcp };
};
