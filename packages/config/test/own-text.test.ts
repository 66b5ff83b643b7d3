import { expect, test } from "@jest/globals";
import { foreignLines } from "../../../scripts/own-text/foreign-lines.mjs";

// The first letter is escaped, or this file would hold such lines itself.
test.each([
  "// \u0043opyright 2020 Example",
  " * \u0043opyright (c) 2019-2021 The Example Authors. All rights reserved.",
  "\u0043opyright Example, Inc.",
  "   \u0043opyright [yyyy] [name]",
  "\u0043OPYRIGHT (C) 1999",
  "# \u0053PDX-FileCopyrightText: 2020 Example",
  "\u00a9 Example",
  "The above \u0063opyright notice and this permission notice shall be included",
])("the line %p belongs to others", (text) => {
  expect(foreignLines(`first\n${text}\n`)).toEqual([{ line: 2, text: text.trim() }]);
});

test.each([
  "fails on a file with a copyright line",
  "SPDX-License-Identifier: Apache-2.0",
  "function f(c) { return 2020; }",
])("the line %p belongs to nobody", (text) => {
  expect(foreignLines(text)).toEqual([]);
});
