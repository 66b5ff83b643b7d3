// Hashes one folder through a running server and shows the progress as it comes.
//   node dist/live-call.js URL FOLDER      FOLDER: relative to the server's HOUSEKEEPING_ROOT
import { connectTaskHost, type Task } from "./task-host.ts";

interface Hashed {
  readonly files: number;
  readonly totalBytes: number;
  readonly digests: Readonly<Record<string, string>>;
}

const [url = "http://127.0.0.1:3000/mcp", folder = "."] = process.argv.slice(2);
const host = await connectTaskHost(new URL(url));
try {
  let last = "";
  const onStatus = ({ taskId, status, statusMessage = "" }: Task): void => {
    const line = `  ${status.padEnd(10)}${statusMessage.slice(0, 100)}`;
    if (last === "") console.log(`  task ${taskId}`);
    if (line !== last) console.log(line);
    last = line;
  };
  console.log(`Calling hash_folder ${JSON.stringify({ folder })} at ${url}`);
  const result = await host.callTool("hash_folder", { folder }, { onStatus });
  if (result.isError) {
    const [reason] = result.content;
    throw new Error(reason?.type === "text" ? reason.text : "failed");
  }

  const content = result.structuredContent as Partial<Hashed> & { readonly resultUri?: string };
  const { resultUri } = content;
  const hashed: Hashed = resultUri === undefined ? (content as Hashed) : JSON.parse(await host.readResource(resultUri));
  const [first] = Object.entries(hashed.digests);
  console.log(`  result    ${hashed.files} files, ${hashed.totalBytes} bytes; ${first?.join(" ")} …`);
} finally {
  await host.close();
}
