import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { findCircles } from "../layering/find-circles.mjs";
import { readManifest } from "../workspace/packages.mjs";
import { root, run } from "../workspace/run.mjs";
import { trackedFiles } from "../workspace/tracked-files.mjs";
import { findCopies } from "./find-copies.mjs";
import { importGraph } from "./import-graph.mjs";
import { privateMembers } from "./private-members.mjs";

/** @typedef {import("./source-files.mjs").SourceFile} SourceFile */
/** @typedef {{ readonly figure: string, readonly of: string, readonly value: string | number }} Row */

const maxLines = 300;
const fewLines = 30;
const copyLines = 8;

/**
 * Code lines of published packages, of private packages and of tests, and of each package.
 * @param {readonly SourceFile[]} files
 * @returns {Row[]}
 */
export function lineRows(files) {
  const sums = ["published packages", "private packages", "tests"].map((of) => {
    const kind = of.split(" ")[0];
    return { figure: "code lines", of, value: sumLines(files.filter((file) => file.kind === kind)) };
  });
  const packages = owners(files).map((owner) => {
    const own = files.filter((file) => file.owner === owner);
    const tests = sumLines(own.filter(({ kind }) => kind === "tests"));
    const kind = own.some((file) => file.kind === "published") ? "" : " (private)";
    return { figure: "code lines + tests", of: `${owner}${kind}`, value: `${sumLines(own) - tests} + ${tests}` };
  });
  return [...sums, ...packages];
}

/**
 * @returns {Promise<Row[]>} Functions of ours that one warm request enters.
 */
export async function traceRows() {
  const { code, output } = await run(process.execPath, ["scripts/figures/trace-requests.mjs"], { quiet: true });
  if (code !== 0) return [{ figure: "functions entered", of: "all wires", value: `not measured: ${lastLine(output)}` }];
  /** @type {import("./trace-requests.mjs").TracedRequest[]} */
  const traced = JSON.parse(output);
  return traced.map(({ wire, request, functions, files }) => ({
    figure: "functions entered",
    of: `${request}, ${wire}`,
    value: `${functions} in ${files} files`,
  }));
}

/**
 * @param {readonly SourceFile[]} files
 * @returns {Row[]} Circles, small files with one importer, and large files: those of tests are left out.
 */
export function shapeRows(files) {
  const sources = files.filter(({ kind }) => kind !== "tests");
  const graph = importGraph(sources);
  const circles = findCircles(graph);
  const large = sources.filter(({ code }) => code.length > maxLines);
  const small = sources.filter(({ path, code }) => code.length < fewLines && importersOf(path, graph).length === 1);
  return [
    { figure: "import circles", of: "all packages", value: circles.length },
    ...circles.map((circle) => ({
      figure: "import circle",
      of: ownerOf(sources, circle[0]),
      value: circle.map((path) => posix.relative(ownerOf(sources, path), path)).join(", "),
    })),
    { figure: `files over ${maxLines} code lines`, of: "all packages", value: large.length },
    ...large.map(({ path, code }) => ({ figure: "large file", of: path, value: code.length })),
    { figure: `files under ${fewLines} with one importer`, of: "all packages", value: small.length },
    ...owners(small).map((owner) => ({
      figure: "small files",
      of: owner,
      value: small.filter((file) => file.owner === owner).length,
    })),
  ];
}

/**
 * @param {readonly SourceFile[]} files
 * @returns {Row[]} Private members of the MCP SDKs, by the folder that touches them.
 */
export function privateMemberRows(files) {
  /** @type {Map<string, string[]>} */
  const folders = new Map();
  for (const { path, owner, kind, source } of files) {
    if (kind === "tests" || !usesSdk(owner) || !/\.m?[jt]s$/.test(path)) continue;
    const names = privateMembers(source);
    if (names.length > 0) folders.set(posix.dirname(path), [...(folders.get(posix.dirname(path)) ?? []), ...names]);
  }
  const all = [...folders.values()].flat();
  return [
    { figure: "private SDK members", of: "all packages", value: `${new Set(all).size} at ${all.length} places` },
    ...[...folders].map(([folder, names]) => ({
      figure: "private SDK members",
      of: folder,
      value: `${names.length} places: ${[...new Set(names)].sort().join(", ")}`,
    })),
  ];
}

/**
 * @param {readonly SourceFile[]} files
 * @returns {Row[]} Copies in sources and in tests; the longest are named.
 */
export function copyRows(files) {
  return [
    { of: "sources", kinds: ["published", "private"] },
    { of: "tests", kinds: ["tests"] },
  ].flatMap(({ of, kinds }) => {
    const copies = findCopies(
      files.filter(({ kind }) => kinds.includes(kind)),
      copyLines,
    );
    const lines = copies.reduce((sum, copy) => sum + copy.lines, 0);
    const maxLength = of === "tests" ? copies.slice(0, 5) : copies;
    return [
      { figure: `copies of ${copyLines} lines and more`, of, value: `${copies.length}, ${lines} lines` },
      ...maxLength.map(({ location, copyOf, lines: length }) => ({
        figure: "copy",
        of: location,
        value: `${length} of ${copyOf}`,
      })),
    ];
  });
}

/**
 * @param {readonly string[]} folders
 * @returns {Row[]} Tests of each package, as their last run left them.
 */
export function testRows(folders) {
  return folders.map((folder) => {
    const path = join(root, folder, ".jest-result.json");
    if (!existsSync(path)) return { figure: "tests", of: folder, value: "no run" };
    /** @type {{ numTotalTests: number, startTime: number, testResults: { endTime: number }[] }} */
    const { numTotalTests, startTime, testResults } = JSON.parse(readFileSync(path, "utf8"));
    const seconds = (Math.max(startTime, ...testResults.map(({ endTime }) => endTime)) - startTime) / 1000;
    return {
      figure: "tests",
      of: folder,
      value: `${numTotalTests} in ${testResults.length} files, ${seconds.toFixed(1)} s`,
    };
  });
}

/** @returns {Row[]} Words of each README, those in tables and examples included. */
export function readmeRows() {
  return trackedFiles()
    .filter((path) => posix.basename(path) === "README.md")
    .map((path) => ({ figure: "README words", of: path, value: countWords(readFileSync(join(root, path), "utf8")) }));
}

/** @param {string} text */
function countWords(text) {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** @param {readonly SourceFile[]} files */
function sumLines(files) {
  return files.reduce((sum, { code }) => sum + code.length, 0);
}

/** @param {readonly SourceFile[]} files */
function owners(files) {
  return [...new Set(files.map(({ owner }) => owner))].sort();
}

/**
 * @param {readonly SourceFile[]} files
 * @param {string | undefined} path
 */
function ownerOf(files, path) {
  return files.find((file) => file.path === path)?.owner ?? ".";
}

/**
 * @param {string} path
 * @param {ReadonlyMap<string, readonly string[]>} graph
 */
function importersOf(path, graph) {
  return [...graph].filter(([, targets]) => targets.includes(path));
}

/** @param {string} owner */
function usesSdk(owner) {
  const { dependencies, peerDependencies, devDependencies } = readManifest(owner);
  const names = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies });
  return names.some((name) => name.startsWith("@modelcontextprotocol/"));
}

/** @param {string} output */
function lastLine(output) {
  return (
    output
      .trim()
      .split("\n")
      .findLast((line) => /Error/.test(line)) ?? "no output"
  );
}
