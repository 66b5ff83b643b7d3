export { jestConfig as default } from "@taskbridge/config/jest";
