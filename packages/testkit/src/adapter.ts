export {
  type FakeAdapterOptions,
  type FakeAnswer,
  type FakeBackend,
  type FakeCall,
  type FakeEvents,
  type FakeExecution,
  type FakeFailure,
  type FakeFault,
  type FakeFaults,
  type FakeQuestion,
  type FakeStreamOptions,
  type FakeTarget,
  type FakeVerb,
  fakeAdapter,
} from "@taskbridge/core/testing";
export { type AdapterContractOptions, type AdapterTestRunner, testAdapter } from "./adapter-contract.ts";
export type { AdapterFeature } from "./adapter-contract-case.ts";
export type { AdapterUnderTest, ContractTarget } from "./adapter-contract-harness.ts";
export { assertSnapshot } from "./adapter-contract-snapshot.ts";
