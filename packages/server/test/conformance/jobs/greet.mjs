import { finish, readInput } from "./report.mjs";

const { name } = await readInput();
finish(`Hello, ${name}!`);
