export { type AdapterContractOptions, type AdapterTestRunner, testAdapter } from "./adapter-contract.ts";
export type { AdapterFeature } from "./adapter-contract-case.ts";
export { assertSnapshot } from "./adapter-contract-snapshot.ts";
export type { AdapterUnderTest, ContractTarget } from "./adapter-contract-stage.ts";
export { type FakeAdapterOptions, fakeAdapter } from "./fake-adapter.ts";
export type { FakeBackend, FakeCall } from "./fake-adapter-backend.ts";
export type { FakeEvents } from "./fake-adapter-events.ts";
export type { FakeAnswer, FakeExecution, FakeQuestion, FakeTarget } from "./fake-adapter-execution.ts";
export type { FakeFailure, FakeFault, FakeFaults, FakeVerb } from "./fake-adapter-faults.ts";
