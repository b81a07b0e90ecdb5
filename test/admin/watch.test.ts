import { expect, it, vi } from 'vitest'
import { startTestGateway } from './gateway.ts'

it('tells the state at once and each change of it, and ends with the gateway', async () => {
  const gateway = await startTestGateway()
  const { client } = gateway
  const watched = (await client.watch({}))[Symbol.asyncIterator]()
  const first = (await watched.next()).value
  expect(first).toMatchObject({ configuration: 0, status: { version: '1.2.3', traffic: { requests_per_second: 1.5 } } })
  const second = watched.next()
  await client.providers.add({ name: 'openai', kind: 'openai', credential: 'sk-one-credential-0001' })
  // Either the change itself, or first what it has made of the status.
  expect((await second).value).not.toEqual(first)
  const ending = watched.next()
  await gateway.close()
  expect(
    await ending.then(
      ({ done }) => done,
      () => true,
    ),
  ).toBe(true)
})

it('costs nothing while nobody watches, and tells nothing while nothing changes', async () => {
  const gateway = await startTestGateway()
  const { runtime } = gateway.parts
  const status = vi.spyOn(runtime, 'status')
  const stopped = vi.fn()
  vi.spyOn(runtime, 'onChange').mockImplementation((listener) => {
    const stop = gateway.store.onChange(listener)
    return () => {
      stop()
      stopped()
    }
  })
  await gateway.client.providers.add({ name: 'openai', kind: 'openai', credential: 'sk-one-credential-0001' })
  expect(status).not.toHaveBeenCalled()
  const leave = new AbortController()
  const watched = (await gateway.client.watch({}, { signal: leave.signal }))[Symbol.asyncIterator]()
  await watched.next()
  const told = vi.fn()
  const next = watched.next().then(told, () => {})
  await vi.waitUntil(() => status.mock.calls.length >= 3, 60_000)
  expect(told).not.toHaveBeenCalled()
  leave.abort()
  await next
  await vi.waitUntil(() => stopped.mock.calls.length === 1, 60_000)
  status.mockClear()
  await gateway.client.providers.deactivate({ name: 'openai' })
  expect(status).not.toHaveBeenCalled()
})
