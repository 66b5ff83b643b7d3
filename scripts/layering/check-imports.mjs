import { isBuiltin } from "node:module";
import { posix } from "node:path";
import { insiders, layers } from "./layers.mjs";

/** @typedef {import("./read-imports.mjs").Import} Import */
/** @typedef {import("./layers.mjs").Layer} Layer */
/** @typedef {import("../workspace/packages.mjs").Manifest} Manifest */

/**
 * @typedef {object} SourceFile
 * @property {string} path Relative to the repository, with forward slashes.
 * @property {readonly Import[]} imports
 */

/**
 * Checks the files of one package against the layers and against what its manifest declares.
 * @param {string} folder The package's, relative to the repository.
 * @param {Manifest} manifest
 * @param {readonly SourceFile[]} files
 * @param {Manifest} workspace The root manifest: tests may use its development tools.
 * @returns {string[]} One line for each violation.
 */
export function checkImports(folder, manifest, files, workspace) {
  const violations = files.flatMap((file) =>
    file.imports.flatMap((entry) => {
      const problem = checkImport({ folder, manifest, workspace }, file.path, entry);
      return problem === undefined ? [] : [`${file.path}: "${entry.specifier}" ${problem}`];
    }),
  );
  return [...violations, ...checkSinglePort(files)];
}

/**
 * @param {{ folder: string, manifest: Manifest, workspace: Manifest }} owner
 * @param {string} path
 * @param {Import} entry
 * @returns {string | undefined} What is wrong with it.
 */
function checkImport(owner, path, entry) {
  const layer = layerOf(path);
  const { specifier } = entry;
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(path), specifier);
    if (insiders[path] !== undefined && target.startsWith(insiders[path])) return undefined;
    if (!target.startsWith(`${owner.folder}/`)) return "leaves its package: import the other package by its name";
    if (layer === undefined || isTest(path)) return undefined;
    const other = layerOf(target);
    return other === layer || (other && layer.may.includes(other.name))
      ? undefined
      : refusal(layer, other?.name ?? target);
  }
  if (/^(@taskbridge\/[^/]+|taskbridge)\/(src|dist)(\/|$)/.test(specifier)) {
    return "reaches into another package: import what its exports publish";
  }
  return (
    checkDeclared(owner, path, specifier) ??
    (layer === undefined || isTest(path) ? undefined : checkModule(layer, entry))
  );
}

/**
 * @param {{ manifest: Manifest, workspace: Manifest }} owner
 * @param {string} path
 * @param {string} specifier
 * @returns {string | undefined}
 */
function checkDeclared({ manifest, workspace }, path, specifier) {
  const name = packageName(specifier);
  if (isBuiltin(specifier)) return undefined;
  const runtime = [manifest.dependencies, manifest.optionalDependencies, manifest.peerDependencies];
  const declared =
    isTest(path) || manifest.private ? [...runtime, manifest.devDependencies, workspace.devDependencies] : runtime;
  if (declared.some((dependencies) => dependencies?.[name] !== undefined)) return undefined;
  return name === manifest.name && isTest(path) ? undefined : `is not a declared dependency of ${manifest.name}`;
}

/**
 * @param {Layer} layer
 * @param {Import} entry
 * @returns {string | undefined}
 */
function checkModule(layer, { specifier, dynamic }) {
  const kind = isBuiltin(specifier) ? "node:*" : isExternal(specifier) ? "external" : undefined;
  const allowed = layer.may.some((entry) => entry === kind || matches(entry, specifier));
  if (allowed) return undefined;
  const onlyDynamic = layer.dynamic?.some((entry) => matches(entry, specifier)) ?? false;
  if (onlyDynamic) return dynamic ? undefined : `may be imported in ${layer.name} by import() only`;
  return refusal(layer, specifier);
}

/**
 * @param {readonly SourceFile[]} files
 * @returns {string[]}
 */
function checkSinglePort(files) {
  /** @type {Map<string, Set<string>>} */
  const importers = new Map();
  for (const { path, imports } of files) {
    if (isTest(path) || !layerOf(path)?.oneFilePerPackage) continue;
    for (const { specifier } of imports) {
      if (specifier.startsWith(".") || isBuiltin(specifier) || !isExternal(specifier)) continue;
      const name = packageName(specifier);
      importers.set(name, (importers.get(name) ?? new Set()).add(path));
    }
  }
  return [...importers]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${[...paths].join(", ")}: "${name}" belongs in one file of the adapter`);
}

/**
 * @param {Layer} layer
 * @param {string} target
 */
function refusal(layer, target) {
  return `is refused: ${layer.name} may not import ${target}`;
}

/** @param {string} path */
function layerOf(path) {
  return layers.find(({ files }) => path.startsWith(files));
}

/** @param {string} path */
function isTest(path) {
  return /^[^/]+\/[^/]+\/(test\/|[^/]+\.config\.mjs$)/.test(path) && !path.startsWith("examples/");
}

/** @param {string} specifier */
function isExternal(specifier) {
  return !/^(@taskbridge\/|@modelcontextprotocol\/|taskbridge(\/|$))/.test(specifier);
}

/** @param {string} specifier */
function packageName(specifier) {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

/**
 * @param {string} pattern Exact, or with a `*` at the end.
 * @param {string} specifier
 */
function matches(pattern, specifier) {
  return pattern.endsWith("*") ? specifier.startsWith(pattern.slice(0, -1)) : specifier === pattern;
}
