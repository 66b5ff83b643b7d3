/** Steps of `main`, or a whole source. The argument of each is `{ "n": 3, "words": ["a", "b"], "name": "Ada" }`. */
const steps: Readonly<Record<string, string>> = {
  "assigns a map and reads its members": `
    - one: { assign: [{ m: { a: 1, b: { c: "x" } } }, { key: b }] }
    - two: { return: ["\${m.a}", "\${m[key].c}", '\${m["b"]["c"]}'] }`,
  "assigns an element of a list": `
    - one: { assign: [{ l: [1, 2, 3] }, { i: 1 }, { "l[i]": x }, { "l[i + 1]": "\${l[0] + 10}" }] }
    - two: { return: "\${l}" }`,
  "assigns a nested member of a map": `
    - one: { assign: [{ m: { a: { b: 1 } } }, { "m.a.b": 2 }, { "m.a.c": [1] }] }
    - two: { return: "\${m}" }`,
  "makes the maps on the way to a member": `
    - one: { assign: [{ m: {} }, { "m.a.b": 2 }] }
    - two: { return: "\${m}" }`,
  "copies a map that another variable gets": `
    - one: { assign: [{ m: { a: 1 } }, { copy: "\${m}" }, { "copy.a": 2 }] }
    - two: { return: ["\${m.a}", "\${copy.a}"] }`,
  "calculates with integers": `
    - one: { return: ["\${7 + 2 * 3}", "\${(7 + 2) * 3}", "\${7 // 2}", "\${-7 // 2}", "\${7 % 3}", "\${-7 % 3}", "\${2 - -3}"] }`,
  "divides into a double": `
    - one: { return: ["\${7 / 2}", "\${6 / 4}", "\${1.5 + 1}"] }`,
  "compares and joins conditions": `
    - one: { return: ["\${1 < 2 and 2 <= 2}", "\${1 > 2 or not (3 == 4)}", "\${1 != 1.0}", '\${"a" < "b"}'] }`,
  "joins texts": `
    - one: { return: '\${"Hello " + input.name + "!"}' }`,
  "joins a text and a number": `
    - one: { return: '\${"n = " + input.n}' }`,
  "leaves a text around an expression alone": `
    - one: { return: "Hello \${input.name}" }`,
  "looks for members of lists and maps": `
    - one: { return: ['\${"a" in input.words}', '\${"z" in input.words}', '\${"n" in input}', '\${not ("z" in input)}'] }`,
  "converts values": `
    - one: { return: ['\${int("12") + 1}', "\${int(2.7)}", '\${double("2.5")}', "\${string(12)}", "\${len(input.words)}", '\${len("abcd")}'] }`,
  "writes a boolean as a text": `
    - one: { return: "\${string(true)}" }`,
  "reads keys": `
    - one: { return: "\${keys(input)}" }`,
  "falls back to a default": `
    - one: { return: ['\${default(map.get(input, "none"), "d")}', '\${default(map.get(input, "name"), "d")}'] }`,
  "keeps a zero in the place of a default": `
    - one: { assign: [{ zero: 0 }] }
    - two: { return: "\${default(zero, 5)}" }`,
  "chooses by if": `
    - one: { return: '\${if(input.n > 2, "many", "few")}' }`,
  "splits and cuts texts": `
    - one: { return: ['\${text.split("a,b,c", ",")}', '\${text.substring("workflow", 0, 4)}', '\${text.replace_all("aXbX", "X", "-")}'] }`,
  "changes the case of texts": `
    - one: { return: ["\${text.to_upper(input.name)}", "\${text.to_lower(input.name)}"] }`,
  "finds texts": `
    - one: { return: ['\${text.find_all("banana", "an")}', '\${text.match_regex("abc123", "[0-9]+")}'] }`,
  "finds texts by a regular expression": `
    - one: { return: '\${text.find_all_regex("HelloWorld", "Hello|World")}' }`,
  "replaces by a regular expression": `
    - one: { return: '\${text.replace_all_regex("a1b22", "[0-9]+", "#")}' }`,
  "adds to lists": `
    - one: { return: ["\${list.concat(input.words, 3)}", "\${list.prepend(input.words, 0)}", "\${input.words}"] }`,
  "merges maps": `
    - one: { assign: [{ a: { x: 1, in: { p: 1 } } }, { b: { y: 2, in: { q: 2 } } }] }
    - two: { return: ["\${map.merge(a, b)}", "\${map.merge_nested(a, b)}", '\${map.delete(a, "x")}', '\${map.get(a, ["in", "p"])}'] }`,
  "encodes and decodes JSON": `
    - one: { return: ['\${json.decode("{\\"a\\": [1, true, null]}")}', '\${json.decode(json.encode(input)).words}'] }`,
  "encodes and decodes Base64": `
    - one: { return: ['\${base64.encode(text.encode("hello"))}', '\${text.decode(base64.decode("aGVsbG8="))}'] }`,
  "compares numbers by functions": `
    - one: { return: ["\${math.abs(-5)}", "\${math.max(2, 7)}", "\${math.min(2, 7)}"] }`,
  "switches to a step": `
    - one: { switch: [{ condition: "\${input.n > 5}", next: big }, { condition: "\${input.n > 2}", next: middle }], next: small }
    - big: { return: big }
    - middle: { return: middle }
    - small: { return: small }`,
  "switches to what no condition holds for": `
    - one: { switch: [{ condition: "\${input.n > 5}", next: big }], next: small }
    - big: { return: big }
    - small: { return: small }`,
  "runs steps inside a switch": `
    - one: { switch: [{ condition: true, steps: [{ inner: { assign: [{ x: 1 }] } }, { more: { assign: [{ x: "\${x + 1}" }] } }] }] }
    - two: { return: "\${x}" }`,
  "jumps backward until a condition holds": `
    - one: { assign: [{ n: 0 }] }
    - more: { assign: [{ n: "\${n + 1}" }] }
    - check: { switch: [{ condition: "\${n < 4}", next: more }] }
    - done: { return: "\${n}" }`,
  "ends without a result": `
    - one: { assign: [{ n: 0 }], next: end }
    - two: { return: 1 }`,
  "runs over a list with its indexes": `
    - one: { assign: [{ found: [] }] }
    - two: { for: { value: v, index: i, in: "\${input.words}", steps: [{ add: { assign: [{ found: '\${list.concat(found, v + string(i))}' }] } }] } }
    - three: { return: "\${found}" }`,
  "runs over a range, both ends of which belong to it": `
    - one: { assign: [{ sum: 0 }] }
    - two: { for: { value: v, range: [1, 4], steps: [{ add: { assign: [{ sum: "\${sum + v}" }] } }] } }
    - three: { return: "\${sum}" }`,
  "continues and breaks a loop": `
    - one: { assign: [{ found: [] }] }
    - two:
        for:
          value: v
          range: [1, 9]
          steps:
            - check: { switch: [{ condition: "\${v == 2}", next: continue }, { condition: "\${v == 5}", next: break }] }
            - add: { assign: [{ found: "\${list.concat(found, v)}" }] }
    - three: { return: "\${found}" }`,
  "catches what was raised": `
    - one:
        try: { raise: { code: 7, message: none } }
        except: { as: e, steps: [{ give: { return: "\${e.code + 1}" } }] }`,
  "fails with what was raised": `
    - one: { raise: { code: 7, message: none } }`,
  "fails with a text that was raised": `
    - one: { raise: none }`,
  "fails by a key that is not there": `
    - one: { return: "\${input.nothing}" }`,
  "fails by an index that is not there": `
    - one: { return: "\${input.words[7]}" }`,
  "fails by a division by zero": `
    - one: { return: "\${1 / 0}" }`,
  "runs branches that share a variable": `
    - one: { assign: [{ a: 0 }, { b: 0 }] }
    - two:
        parallel:
          shared: [a, b]
          branches:
            - left: { steps: [{ set_a: { assign: [{ a: 1 }] } }] }
            - right: { steps: [{ set_b: { assign: [{ b: 2 }] } }] }
    - three: { return: "\${a + b}" }`,
};

const whole: Readonly<Record<string, string>> = {
  "calls a routine with a default": `
main:
  steps:
    - one: { call: add, args: { a: 2 }, result: sum }
    - two: { return: "\${sum}" }
add:
  params: [a, { b: 40 }]
  steps:
    - one: { return: "\${a + b}" }
`,
  "retries as often as its own predicate lets it": `
main:
  steps:
    - init: { assign: [{ tries: 0 }] }
    - work:
        try:
          steps:
            - count: { assign: [{ tries: "\${tries + 1}" }] }
            - check: { switch: [{ condition: "\${tries < 3}", raise: { code: 9 } }] }
        retry: { predicate: "\${is_nine}", max_retries: 5, backoff: { initial_delay: 0, max_delay: 0, multiplier: 1 } }
    - done: { return: "\${tries}" }
is_nine:
  params: [e]
  steps:
    - one: { return: "\${e.code == 9}" }
`,
};

export const workflows: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(steps).map(([name, text]) => [name, `main:\n  params: [input]\n  steps:${text}\n`]),
  ),
  ...whole,
};

export const argument = '{"n":3,"words":["a","b"],"name":"Ada"}';
