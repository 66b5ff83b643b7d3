import { blockingCalls, sleep } from "./blocking-calls.ts";
import { type Branch, maxAtOnce, runBranches } from "./branches.ts";
import { functions, toArguments } from "./functions.ts";
import { retry } from "./retry.ts";
import {
  type Block,
  callRoutine,
  type Flow,
  type Program,
  type Routine,
  runSteps,
  type Step,
  type Thread,
} from "./run.ts";
import { innerScope, readVariable, type Scope, withElement, writeVariable } from "./scope.ts";
import * as source from "./source.ts";
import {
  errorOf,
  isList,
  isMap,
  isNumber,
  toJson,
  typeOf,
  type Value,
  type ValueMap,
  WorkflowError,
} from "./values.ts";

type Context = source.Context;
type Compile = (context: Context, body: ValueMap) => Block;

/** @throws SourceError by the name of what this engine does not support. */
export const compile = (text: string): Program => {
  const root = source.parseSource(text);
  const bodies = isList(root) ? new Map<string, Value>([["main", new Map([["steps", root]])]]) : root;
  if (!isMap(bodies) || !bodies.has("main")) throw new source.SourceError("there is no routine `main`");
  const routines = new Map<string, Routine>();
  const outside = (routine: string): Context => ({
    ...{ routine, step: "", routines, names: new Set(), targets: new Set(), loop: [], isInBranch: false },
  });
  for (const [name, body] of bodies) {
    const context = outside(name);
    const fields = source.fieldsOf(context, body, name);
    source.onlyFields(context, fields, ["params", "steps"]);
    const params = fields.has("params") ? source.itemsOf(context, fields.get("params"), "params") : [];
    const named = params.map((param) => (isMap(param) ? source.namedItem(context, param, "params") : [param]));
    const entries = named.map(([key, value]) => [source.nameOf(context, key, "params"), value] as const);
    routines.set(name, { name, params: new Map(entries), body: async () => undefined });
  }
  for (const routine of routines.values())
    routine.body = block(outside(routine.name), (bodies.get(routine.name) as ValueMap).get("steps"));
  return { main: routines.get("main") as Routine };
};

/** A list of steps. */
const block = (outer: Context, value: Value | undefined): Block => {
  const named = source.itemsOf(outer, value, "steps").map((item) => source.namedItem(outer, item, "steps"));
  const targets = new Set([...outer.targets, ...named.map(([name]) => name)]);
  const steps = named.map(([step, body]): Step => {
    const context = { ...outer, step, targets };
    if (outer.names.has(step)) throw source.refuse(context, "another step has this name");
    outer.names.add(step);
    return { routine: outer.routine, step, run: action(context, source.fieldsOf(context, body, step)) };
  });
  return (scope, thread) => runSteps(steps, scope, thread);
};

/** What a step does, or one condition of a `switch`, or a `try` without steps. */
const action = (context: Context, body: ValueMap): Block => {
  const [name, ...more] = Object.keys(actions).filter((one) => body.has(one));
  const next = body.has("next") ? jump(context, body.get("next") ?? null) : undefined;
  if (name === undefined) {
    source.onlyFields(context, body, ["next"]);
    if (next === undefined) throw source.refuse(context, "the step does nothing");
    return async () => next;
  }
  const { compile: compileAction, fields } = actions[name] as (typeof actions)[string];
  if (more.length > 0) throw source.refuse(context, `\`${name}\` and \`${more[0]}\` are in one step`);
  source.onlyFields(context, body, [name, ...fields, "next"]);
  const run = compileAction(context, body);
  return async (scope, thread) => (await run(scope, thread)) ?? next;
};

const jump = (context: Context, to: Value): Flow => {
  if (to === "end" && !context.isInBranch) return { returned: null };
  if (to === "end") throw source.unsupported(context, "next: end` inside `parallel");
  const isKnown = typeof to === "string" && (context.loop.includes(to) || context.targets.has(to));
  if (!isKnown) throw source.refuse(context, `\`next\` leads to ${toJson(to)}, which is no step or loop around it`);
  return { next: to };
};

const assign: Compile = (context, body) => {
  const entries = source.itemsOf(context, body.get("assign"), "assign").map((item) => {
    const [target, value] = source.namedItem(context, item, "assign");
    const location = source.toExpression(context, target).target;
    if (location === undefined) throw source.refuse(context, "`assign` has a target that is no variable or element");
    return { ...location, value: source.toEvaluated(context, value) };
  });
  return async (scope, thread) => {
    for (const { name, path, value } of entries) {
      const keys = path.map((key) => source.evaluateIn(key, scope, thread));
      const whole = keys.length === 0 ? undefined : readVariable(scope, name);
      writeVariable(scope, name, withElement(whole, keys, value(scope, thread)));
    }
    return undefined;
  };
};

const call: Compile = (context, body) => {
  const name = body.get("call");
  if (typeof name !== "string") throw source.refuse(context, "`call` is no name");
  const routine = context.routines.get(name);
  const blocking = Object.hasOwn(blockingCalls, name) ? blockingCalls[name] : undefined;
  const pure = Object.hasOwn(functions, name) ? functions[name] : undefined;
  const params = routine === undefined ? (blocking ?? pure)?.params : optionalParams(routine);
  if (params === undefined) throw source.unsupported(context, name);
  const given = body.has("args") ? source.fieldsOf(context, body.get("args"), "args") : new Map<string, Value>();
  source.onlyFields(
    context,
    given,
    params.map((param) => param.replace("?", "")),
    `${name}: args.`,
  );
  const missing = params.find((param) => !param.endsWith("?") && !given.has(param));
  if (missing !== undefined) throw source.refuse(context, `${name} needs the argument ${missing}`);
  const evaluated = source.toEvaluated(context, given);
  const result = body.has("result") ? source.nameOf(context, body.get("result"), "result") : undefined;
  return async (scope, thread) => {
    const args = evaluated(scope, thread) as ValueMap;
    const { host, signal } = thread.run;
    let value: Value = null;
    if (routine !== undefined) value = await callRoutine(routine, args, thread);
    else if (blocking !== undefined) value = await blocking.run(toArguments(name, args), host, signal);
    else value = pure?.run(toArguments(name, args), host.environment) ?? null;
    if (result !== undefined) writeVariable(scope, result, value);
    return undefined;
  };
};

const optionalParams = ({ params }: Routine): readonly string[] =>
  [...params].map(([name, fallback]) => (fallback === undefined ? name : `${name}?`));

const choose: Compile = (context, body) => {
  const entries = source.itemsOf(context, body.get("switch"), "switch").map((item) => {
    const { condition, ...fields } = Object.fromEntries(source.fieldsOf(context, item, "switch"));
    if (condition === undefined) throw source.refuse(context, "an entry of `switch` has no `condition`");
    const run = action(context, new Map(Object.entries(fields)));
    return { condition: source.toEvaluated(context, condition), run };
  });
  return async (scope, thread) => {
    for (const { condition, run } of entries) {
      const holds = condition(scope, thread);
      if (typeof holds !== "boolean") throw errorOf("TypeError", `a condition is of type ${typeOf(holds)}`);
      if (holds) return run(scope, thread);
    }
    return undefined;
  };
};

interface Loop {
  readonly run: Block;
  /** The variables of each iteration. */
  readonly iterations: (scope: Scope, thread: Thread) => readonly (readonly (readonly [string, Value])[])[];
}

const loop = (outer: Context, value: Value | undefined, jumps: readonly string[]): Loop => {
  const context = { ...outer, targets: new Set<string>(), loop: jumps };
  const fields = source.fieldsOf(context, value, "for");
  source.onlyFields(context, fields, ["value", "index", "in", "range", "steps"], "for: ");
  const name = source.nameOf(context, fields.get("value"), "value");
  const index = fields.has("index") ? source.nameOf(context, fields.get("index"), "index") : undefined;
  if (fields.has("in") === fields.has("range")) throw source.refuse(context, "`for` needs either `in` or `range`");
  const over = source.toEvaluated(context, fields.get("in") ?? fields.get("range") ?? null);
  return {
    run: block(context, fields.get("steps")),
    iterations: (scope, thread) => {
      const found = over(scope, thread);
      if (!isList(found)) throw errorOf("TypeError", `\`for\` runs over a value of type ${typeOf(found)}`);
      return (fields.has("in") ? found : rangeOf(found)).map((item, at) => [
        [name, item],
        ...(index === undefined ? [] : [[index, BigInt(at)] as const]),
      ]);
    },
  };
};

/** Both ends belong to a range. */
const rangeOf = (ends: readonly Value[]): readonly Value[] => {
  const [first, last] = ends;
  if (!isNumber(first) || !isNumber(last) || ends.length !== 2)
    throw errorOf("TypeError", "`range` is not two numbers");
  const length = Math.max(0, Math.floor(Number(last) - Number(first)) + 1);
  return Array.from({ length }, (_, at) => (typeof first === "bigint" ? first + BigInt(at) : first + at));
};

const repeat: Compile = (context, body) => {
  const { run, iterations } = loop(context, body.get("for"), ["break", "continue"]);
  return async (scope, thread) => {
    for (const variables of iterations(scope, thread)) {
      const flow = await run(innerScope(scope, variables), thread);
      if (flow !== undefined && "returned" in flow) return flow;
      if (flow?.next === "break") break;
    }
    return undefined;
  };
};

const parallel: Compile = (outer, body) => {
  const context = { ...outer, targets: new Set<string>(), loop: [], isInBranch: true };
  const fields = source.fieldsOf(context, body.get("parallel"), "parallel");
  const known = ["shared", "concurrency_limit", "exception_policy", "branches", "for"];
  source.onlyFields(context, fields, known, "parallel: ");
  const policy = fields.get("exception_policy") ?? "continueAll";
  if (policy !== "continueAll") throw source.unsupported(context, `exception_policy: ${toJson(policy)}`);
  if (fields.has("branches") === fields.has("for"))
    throw source.refuse(context, "`parallel` needs either `branches` or `for`");
  const names = fields.has("shared") ? source.itemsOf(context, fields.get("shared"), "shared") : [];
  const shared = new Set(names.map((name) => source.nameOf(context, name, "shared")));
  const limit = source.toEvaluated(context, fields.get("concurrency_limit") ?? BigInt(maxAtOnce));
  const branchesOf = fields.has("for") ? iterationBranches(context, fields) : namedBranches(context, fields);
  return async (scope, thread) => {
    const maximum = limit(scope, thread);
    if (typeof maximum !== "bigint" || maximum < 1n)
      throw errorOf("ValueError", "`concurrency_limit` is no positive integer");
    await runBranches(branchesOf(scope, thread), Number(maximum), { ...innerScope(scope), shared }, thread);
    return undefined;
  };
};

type Branches = (scope: Scope, thread: Thread) => readonly Branch[];

const namedBranches = (context: Context, fields: ValueMap): Branches => {
  const branches = source.itemsOf(context, fields.get("branches"), "branches").map((item): Branch => {
    const [id, body] = source.namedItem(context, item, "branches");
    const inner = source.fieldsOf(context, body, id);
    source.onlyFields(context, inner, ["steps"], `${id}: `);
    return { id, run: block(context, inner.get("steps")), variables: [] };
  });
  return () => branches;
};

const iterationBranches = (context: Context, fields: ValueMap): Branches => {
  const { run, iterations } = loop(context, fields.get("for"), ["continue"]);
  return (scope, thread) =>
    iterations(scope, thread).map((variables, index) => ({ id: String(index), run, variables }));
};

const returned: Compile = (context, body) => {
  if (context.isInBranch) throw source.unsupported(context, "return` inside `parallel");
  const value = source.toEvaluated(context, body.get("return") ?? null);
  return async (scope, thread) => ({ returned: value(scope, thread) });
};

const raised: Compile = (context, body) => {
  const value = source.toEvaluated(context, body.get("raise") ?? null);
  return async (scope, thread) => {
    const error = value(scope, thread);
    // A TypeError in its place when it has bytes, which no execution could show.
    toJson(error);
    throw new WorkflowError(error);
  };
};

const attempt: Compile = (context, body) => {
  if (!body.has("retry") && !body.has("except")) throw source.refuse(context, "`try` has no `retry` and no `except`");
  const run = action(context, source.fieldsOf(context, body.get("try"), "try"));
  const wait = body.has("retry") ? retry(context, body.get("retry") ?? null) : undefined;
  const rescue = body.has("except") ? except(context, body) : undefined;
  return async (scope, thread) => {
    for (let attempts = 0; ; attempts++) {
      try {
        return await run(scope, thread);
      } catch (error) {
        if (!(error instanceof WorkflowError)) throw error;
        const seconds = await wait?.(error.value, attempts, scope, thread);
        if (seconds !== undefined) await sleep(seconds, thread.run.signal);
        else if (rescue === undefined) throw error;
        else return rescue(error.value, scope, thread);
      }
    }
  };
};

const except = (context: Context, body: ValueMap) => {
  const fields = source.fieldsOf(context, body.get("except"), "except");
  source.onlyFields(context, fields, ["as", "steps"], "except: ");
  const name = source.nameOf(context, fields.get("as"), "as");
  const run = fields.has("steps") ? block(context, fields.get("steps")) : async () => undefined;
  return (error: Value, scope: Scope, thread: Thread): Promise<Flow> => run(innerScope(scope, [[name, error]]), thread);
};

const actions: Readonly<Record<string, { readonly fields: readonly string[]; readonly compile: Compile }>> = {
  assign: { fields: [], compile: assign },
  call: { fields: ["args", "result"], compile: call },
  switch: { fields: [], compile: choose },
  for: { fields: [], compile: repeat },
  parallel: { fields: [], compile: parallel },
  try: { fields: ["retry", "except"], compile: attempt },
  raise: { fields: [], compile: raised },
  return: { fields: [], compile: returned },
  steps: { fields: [], compile: (context, body) => block(context, body.get("steps")) },
};
