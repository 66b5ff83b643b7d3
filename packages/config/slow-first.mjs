import sequencer from "@jest/test-sequencer";
import { slowTests } from "./slow-tests.mjs";

// Its types are those of CommonJS, where the class is one deeper.
const TestSequencer = /** @type {typeof sequencer.default} */ (/** @type {unknown} */ (sequencer));

/** @typedef {Parameters<InstanceType<typeof TestSequencer>["sort"]>[0][number]} Test */

/**
 * Jest starts with what took longest the last time, and without a last time with the largest files. In a fresh clone that
 * leaves tests to the end that take long but are short to write, each of them alone then.
 */
export class SlowFirst extends TestSequencer {
  /**
   * @override
   * @param {Test[]} tests
   * @returns {Promise<Test[]>}
   */
  async sort(tests) {
    return (await super.sort(tests)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** @param {Test} test Its duration is that of the last time. */
function rank({ path, duration }) {
  const position = duration === undefined ? slowTests.findIndex((name) => path.endsWith(name)) : -1;
  return position === -1 ? slowTests.length : position;
}

// biome-ignore lint/style/noDefaultExport: Jest asks for it.
export default SlowFirst;
