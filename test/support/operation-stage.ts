/** What an operation appears in, bundled together where a copy of the contract is changed (`test/admin/change-experiments.test.ts`). */
export { catalog } from '../../cli/catalog.ts'
export { runCli } from '../../cli/program.ts'
export { apiReference } from '../../scripts/api-reference.ts'
export { openCaller } from '../../src/admin/client-calls.ts'
export { startTestGateway } from '../admin/gateway.ts'
export { fakeIo } from '../cli/fake-io.ts'
