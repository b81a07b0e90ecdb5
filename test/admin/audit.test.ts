import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { refusal, startTestGateway, type TestGateway } from './gateway.ts'

async function download({ client }: TestGateway, input: Parameters<TestGateway['client']['audit']['export']>[0]) {
  const chunks: Buffer[] = []
  let bytes: number | null = null
  let summary: { lines: number; head_hash: string | null } | null = null
  let sha256 = ''
  for await (const event of await client.audit.export(input)) {
    if (event.kind === 'begin') [bytes, summary] = [event.bytes, event.summary]
    else if (event.kind === 'bytes') chunks.push(Buffer.from(event.base64, 'base64'))
    else if (event.kind === 'end') sha256 = event.sha256
  }
  const file = Buffer.concat(chunks)
  expect(file.length).toBe(bytes)
  expect(createHash('sha256').update(file).digest('hex')).toBe(sha256)
  const lines = file
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((text) => JSON.parse(text))
  return { lines, summary }
}

it('is proven, up to a hash that was noted elsewhere too', async () => {
  const { client, databasePath } = await startTestGateway()
  expect(await client.audit.verify({})).toEqual({
    ok: true,
    problem: null,
    lines: 0,
    head: null,
    broken: null,
    noted: null,
  })
  await client.projects.add({ name: 'search' })
  const first = await client.audit.verify({})
  await client.projects.remove({ name: 'search' })
  const noted = first.head?.hash ?? ''
  expect(await client.audit.verify({ head: noted })).toMatchObject({
    ok: true,
    lines: 2,
    noted: { sequence: 1, hash: noted },
  })
  expect(await client.audit.verify({ head: '0'.repeat(64) })).toMatchObject({
    ok: false,
    problem: 'No line has the noted hash: lines were removed from the end, or the log was rewritten.',
    broken: null,
  })
  expect(await refusal(client.audit.verify({ head: 'nonsense' }))).toMatchObject({ code: 'invalid' })
  const database = new Sqlite(databasePath)
  database.exec("drop trigger audit_is_never_changed; update audit set actor = 'nobody' where sequence = 1")
  database.close()
  expect(await client.audit.verify({ head: noted })).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^Line 1 \(aud_\w+, 20.+Z\): it was changed\.$/),
    broken: { sequence: 1 },
    noted: null,
  })
})

it('is shown line by line, and page by page', async () => {
  const { client } = await startTestGateway()
  await client.projects.add({ name: 'search' })
  await client.environments.add({ name: 'staging', project: 'search' })
  await client.workspace.rename({ name: 'acme' })
  const [newest, ...older] = await client.audit.list({})
  expect(newest).toMatchObject({ operation: 'workspace.rename', project: null, actor_id: null, address: null })
  expect(await client.audit.show({ id: newest?.id ?? '' })).toEqual(newest)
  expect(await client.audit.list({ before: newest?.id })).toEqual(older)
  expect(await refusal(client.audit.list({ before: 'nonsense' }))).toMatchObject({ code: 'invalid' })
  expect(await refusal(client.audit.list({ before: newId('aud') }))).toMatchObject({ code: 'not_found' })
  expect((await client.audit.list({ project: 'search' })).map(({ operation }) => operation)).toEqual([
    'environments.add',
    'projects.add',
  ])
  const [{ id = '' } = {}] = await client.projects.list({})
  expect(await client.audit.list({ project: id, surface: 'cli', actor: 'local owner' })).toEqual([])
  expect(await refusal(client.audit.list({ project: 'nowhere' }))).toMatchObject({ code: 'not_found' })
  expect(await refusal(client.audit.show({ id: 'aud_nowhere' }))).toMatchObject({ code: 'not_found' })
  await client.environments.remove({ name: 'staging', project: 'search' })
  const { id: gone } = await client.projects.remove({ name: 'search' })
  // The lines of what is gone are still known by its id.
  expect((await client.audit.list({ project: gone })).map(({ project }) => project)).toEqual([gone, gone, gone, gone])
})

it('is exported whole, oldest first, with a line of who took it', async () => {
  const gateway = await startTestGateway()
  const { client } = gateway
  for (let index = 0; index < 505; index++) await client.workspace.rename({ name: `name-${index}` })
  await client.projects.add({ name: 'search' })
  const { lines, summary } = await download(gateway, {})
  expect(summary).toEqual({ lines: 507, head_hash: lines.at(-1).hash })
  expect(lines.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 507 }, (_, index) => index + 1))
  expect(lines.at(-1)).toMatchObject({ operation: 'audit.export', actor: 'local owner' })
  expect(lines[0]).toEqual((await client.audit.list({ operation: 'workspace.rename', limit: 1000 })).at(-1))
  const some = await download(gateway, { project: 'search' })
  expect(some.lines.map(({ operation }) => operation)).toEqual(['projects.add'])
})

it('tells of each object in the project that has it, though others have one of the same id', async () => {
  const { client } = await startTestGateway()
  await client.projects.add({ name: 'other' })
  await client.environments.add({ name: 'production', project: 'other' })
  for (const name of ['one', 'two']) await client.providers.add({ name, kind: 'demo' })
  const file = { name: 'file-1', type: 'file' as const }
  await client.objects.adopt({ ...file, provider: 'one' })
  await client.objects.adopt({ ...file, provider: 'two', project: 'other', environment: 'production' })
  await client.objects.forget({ ...file, provider: 'two' })
  const lines = await client.audit.list({ resource: 'file-1' })
  expect(lines.map(({ operation, project }) => [operation, project])).toEqual([
    ['objects.forget', 'other'],
    ['objects.adopt', 'other'],
    ['objects.adopt', 'default'],
  ])
})

it('keeps no key that an operator wrote into a header', async () => {
  const { client } = await startTestGateway()
  const headers = { 'x-auth': 'Bearer sk-proj-AbCd0123EfGh4567ijKl' }
  const baseUrl = 'https://api.example.com/v1'
  await client.providers.add({ name: 'p', kind: 'openai', baseUrl, credential: 'sk-1', headers, skipCheck: true })
  const [added] = await client.audit.list({ limit: 1 })
  expect(added).toMatchObject({
    after: { base_url: baseUrl, headers: { 'x-auth': expect.stringMatching(/^… \(fingerprint/) } },
  })
  const file = `providers:\n  - { name: p, kind: openai, headers: { x-auth: Bearer sk-proj-AbCd0123EfGh4567ijKm } }\n`
  await client.apply({ files: { a: file }, variables: {}, skipCheck: true })
  const [applied] = await client.audit.list({ limit: 1 })
  expect(applied).toMatchObject({
    operation: 'apply',
    after: { headers: { 'x-auth': expect.stringMatching(/^… \(fingerprint/) } },
  })
})
