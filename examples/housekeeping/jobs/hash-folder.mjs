import { hashFiles, listFiles, openFolder } from "./folder.mjs";
import { finish, progressReporter } from "./report.mjs";

const folder = await openFolder(process.argv[2]);
const files = await listFiles(folder);
const { totalBytes, digests } = await hashFiles(folder, files, progressReporter(files.length));
finish({ files: Object.keys(digests).length, totalBytes, digests });
