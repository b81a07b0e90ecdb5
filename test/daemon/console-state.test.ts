import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Runtime } from '../../src/admin/handlers/context.ts'
import { readGatewayState } from '../../src/daemon/console-state.ts'
import type { StoreHealth } from '../../src/store/api.ts'
import { startTestGateway } from '../admin/gateway.ts'

const well: StoreHealth = { degraded: null, databaseBytes: 10, journalBytes: 20, schemaVersion: '1', setAside: [] }

let runtime: Runtime
beforeEach(async () => {
  const gateway = await startTestGateway()
  const add = { kind: 'demo', tags: {} }
  await gateway.client.providers.add({ name: 'ours', ...add })
  await gateway.client.providers.add({ name: 'resting', ...add, inactive: true })
  await gateway.client.routes.add({ model: 'any-*', targets: ['ours'] })
  await gateway.client.routes.add({ model: 'ours-1', targets: ['ours'] })
  const { id } = await gateway.client.keys.create({ name: 'ci' })
  await gateway.client.keys.create({ name: 'live' })
  await gateway.client.keys.revoke({ key: id })
  runtime = gateway.parts.runtime
})
afterEach(() => vi.useRealTimers())

it('tells what there is, and an example that stands in a command as it is', async () => {
  expect(await readGatewayState(runtime, { health: async () => well })).toMatchObject({
    providers: [
      { name: 'ours', kind: 'demo', state: 'ready', reason: null },
      { name: 'resting', state: 'inactive', reason: null },
    ],
    routes: 2,
    keys: 1,
    parts: [
      { part: 'journal', reason: null },
      { part: 'store', reason: null },
    ],
    databaseBytes: 10,
    journalBytes: 20,
    exampleModel: 'ours-1',
  })
})

it('takes the example of a pattern from what its provider has', async () => {
  const { configuration, keys } = runtime.snapshot()
  const [provider] = configuration.providers
  const models = ['some-0', "any-'; rm", 'any-7'].map((name) => ({ name, contextTokens: null, outputTokens: null }))
  const snapshot = () => ({
    keys,
    configuration: {
      ...configuration,
      providers: provider ? [{ ...provider, models }] : [],
      routes: configuration.routes.filter(({ model }) => model === 'any-*'),
    },
  })
  expect(await readGatewayState({ ...runtime, snapshot }, { health: async () => well })).toMatchObject({
    exampleModel: 'any-7',
  })
})

it('puts what traffic found before what the check found', async () => {
  const state = async (live: ReturnType<Runtime['health']>) => {
    const found = await readGatewayState({ ...runtime, health: () => live }, { health: async () => well })
    return found.providers[0]?.state
  }
  expect(await state({ state: 'open', until: 1 })).toBe('open')
  expect(await state({ state: 'half-open' })).toBe('probing')
  expect(await state({ state: 'failing', since: 1 })).toBe('failing')
})

it('goes on without a store that fails', async () => {
  const health = () => Promise.reject(new Error('the store thread has ended'))
  const { parts, databaseBytes, routes } = await readGatewayState(runtime, { health })
  expect([parts[1], databaseBytes, routes]).toEqual([{ part: 'store', reason: 'the store thread has ended' }, null, 2])
})

it('goes on without a store that does not answer', async () => {
  vi.useFakeTimers()
  const asked = readGatewayState(runtime, { health: () => new Promise(() => {}) })
  await vi.runAllTimersAsync()
  expect((await asked).parts[1]).toEqual({ part: 'store', reason: 'The store does not answer.' })
})
