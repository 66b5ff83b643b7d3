import { hashFiles, listFiles, openFolder } from "./folder.mjs";
import { fail, finish, progressReporter, readInput } from "./report.mjs";

const input = await readInput();
const folder = await openFolder(input.folder);
const listed = await listFiles(folder);
const { digests } = await hashFiles(folder, listed, progressReporter(listed.length));
const files = Object.keys(digests);

const before = new Map(Object.entries(input.digests));
const differences = [
  ...files.filter((file) => !before.has(file)).map((file) => `new: ${file}`),
  ...[...before.keys()].filter((file) => digests[file] === undefined).map((file) => `missing: ${file}`),
  ...files.filter((file) => before.has(file) && before.get(file) !== digests[file]).map((file) => `changed: ${file}`),
];

if (differences.length === 0) finish({ files: files.length, unchanged: true });
else fail(`${differences.length} files differ, such as ${differences[0]}`, differences.slice(0, 100));
