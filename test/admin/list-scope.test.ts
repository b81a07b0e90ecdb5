import { expect, it } from 'vitest'
import { refusal, startTestGateway } from './gateway.ts'

it('without a project or environment every list covers all, with one only that (contract rule 28)', async () => {
  const { client } = await startTestGateway()
  await client.projects.add({ name: 'search' })
  await client.environments.add({ name: 'staging', project: 'search' }).catch(() => {})
  await client.environments.add({ name: 'staging', project: 'default' })
  await client.providers.add({ name: 'demo', kind: 'openai', credential: 'sk-one-credential-0001' })
  const places = [
    { project: 'default', environment: 'production' },
    { project: 'default', environment: 'staging' },
    { project: 'search', environment: 'staging' },
  ]
  for (const [index, place] of places.entries()) {
    await client.keys.create({ name: `key-${index}`, ...place })
    await client.routes.add({ model: `model-${index}`, provider: 'demo', ...place })
  }
  const found = async (scope: { project?: string; environment?: string; all?: boolean }) => {
    const keys = (await client.keys.list(scope)).map(({ name }) => Number(name.slice(4))).sort()
    const routes = (await client.routes.list(scope)).map(({ model }) => Number(model.slice(6))).sort()
    const used = (await client.keys.usage(scope)).map(({ key }) => Number(key.name.slice(4))).sort()
    expect([routes, used]).toEqual([keys, keys])
    return keys
  }
  expect(await found({})).toEqual([0, 1, 2])
  expect(await found({ project: 'default' })).toEqual([0, 1])
  expect(await found({ environment: 'staging' })).toEqual([1, 2])
  expect(await found({ project: 'search', environment: 'staging' })).toEqual([2])
  expect(await found({ project: 'search', environment: 'staging', all: true })).toEqual([0, 1, 2])
  const environments = async (scope: object) => (await client.environments.list(scope)).length
  expect(await environments({})).toBeGreaterThan(await environments({ project: 'search' }))
  expect(await refusal(client.keys.list({ project: 'nobody' }))).toMatchObject({ code: 'not_found' })
  expect(await refusal(client.keys.list({ environment: 'nobody' }))).toMatchObject({ code: 'not_found' })
  expect(await client.objects.list({ environment: 'staging' })).toEqual([])
})
