// Prints the size and shape of the code as one table. What it counts never fails the run.
import { install } from "./workspace/install.mjs";
import { workspacePackages } from "./workspace/packages.mjs";

await install();
const { copyRows, lineRows, privateMemberRows, readmeRows, shapeRows, testRows, traceRows } = await import(
  "./figures/gather.mjs"
);
const { sourceFiles } = await import("./figures/source-files.mjs");

const files = sourceFiles();
const tested = workspacePackages().flatMap(({ folder, manifest }) => (manifest.scripts?.test ? [folder] : []));
const rows = [
  ...lineRows(files),
  ...(await traceRows()),
  ...shapeRows(files),
  ...privateMemberRows(files),
  ...copyRows(files),
  ...testRows(tested),
  ...readmeRows(),
];
const width = Math.max(...rows.map(({ figure }) => figure.length));
const ofWidth = Math.max(...rows.map(({ of }) => of.length));
for (const { figure, of, value } of rows) console.log(`${figure.padEnd(width)}  ${of.padEnd(ofWidth)}  ${value}`);
