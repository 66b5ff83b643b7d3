import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { toCredentialsError } from "../../src/google/to-credentials-error.ts";

const variable = "GOOGLE_APPLICATION_CREDENTIALS";
const before = process.env[variable];
beforeEach(() => {
  delete process.env[variable];
});
afterEach(() => {
  if (before === undefined) delete process.env[variable];
  else process.env[variable] = before;
});

const location = { action: "workflows.executions.create", ifSent: "outcome_unknown" } as const;
const none = { keyFile: undefined, credentials: undefined, client: undefined };
const coded = (code: string, message = "", more: object = {}): Error =>
  Object.assign(new Error(message), { code, ...more });
const reported = (error: unknown, given: object = {}) => {
  const { code, message, notSent, data } = toCredentialsError(error, location, { ...none, ...given });
  return { code, message, notSent, path: data?.path };
};
const fault = (message: string, path: string) => ({ code: "misconfigured", message, notSent: true, path });

test("names the variable, and the path that was looked at", () => {
  process.env[variable] = "/nope.json";
  const missing = fault(`${variable}: there is no such file: /nope.json`, "");
  expect(reported(coded("ENOENT"))).toEqual(missing);
  expect(reported(new Error("The file at /nope.json does not exist, or it is not a file. "))).toEqual(missing);
  // The option goes before the variable.
  expect(reported(coded("ENOENT"), { keyFile: "/k.json" }).message).toBe("keyFile: there is no such file: /k.json");
});

test.each([
  [{ keyFile: "/k.json" }, new SyntaxError("x"), fault("keyFile: is not the JSON of a key: /k.json", "keyFile")],
  [
    { keyFile: "/k.json" },
    new Error("The incoming JSON object does not contain a client_email field"),
    fault("keyFile: is no key that can be used: it does not contain a client_email field: /k.json", "keyFile"),
  ],
  [
    { keyFile: "/k.json" },
    new TypeError("key must be a string, a buffer or an object"),
    fault("keyFile: holds no key that can be used: /k.json", "keyFile"),
  ],
  [
    { credentials: {} },
    coded("ERR_OSSL_UNSUPPORTED", "error:1E08010C:DECODER routines::unsupported"),
    fault("credentials: holds no key that can be used", "credentials"),
  ],
  [
    { credentials: {} },
    new Error("The incoming JSON object does not contain a private_key field"),
    fault("credentials: is no key that can be used: it does not contain a private_key field", "credentials"),
  ],
])("says what is wrong with what was given: %j", (given, error, expected) => {
  expect(reported(error, given)).toEqual(expected);
});

test.each([
  [
    new Error("Could not load the default credentials. Browse to …"),
    /no Google credentials .*GOOGLE_APPLICATION_CREDENTIALS/,
  ],
  [coded("400", "invalid_grant"), /\(keyFile: \/k\.json\) cannot be used at present \(400\)/],
  [coded("EACCES"), /\(keyFile: \/k\.json\) cannot be used at present \(EACCES\)/],
  [
    new TypeError("fetch failed", { cause: coded("ENOTFOUND", "", { hostname: "oauth2.googleapis.com" }) }),
    /cannot be reached for a token: ENOTFOUND oauth2\.googleapis\.com, for workflows\.executions\.create$/,
  ],
])("may be well again by the next call: %s", (error, message) => {
  expect(reported(error, { keyFile: "/k.json" })).toMatchObject({
    code: "unavailable",
    notSent: true,
    message: expect.stringMatching(message),
  });
});
