export { jestConfig as default } from "./jest-config.mjs";
