import { dirname, join } from 'node:path'
import { newId } from '../../src/core/ids.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { sampleRecord } from '../support/sample-record.ts'
import { startTestGateway, type TestGateway } from './gateway.ts'

/** A gateway with two projects; everything of the second has `hidden` in its name, and so has what is the workspace's. */
export interface ScopeStage {
  gateway: TestGateway
  own: { project: string }
  /** By what a field of an input may call it: names, and ids. */
  names: Record<string, string>
  ids: Record<string, string>
  records: { own: RequestRecord; hidden: RequestRecord }
}

export async function setScopeStage(): Promise<ScopeStage> {
  const gateway = await startTestGateway()
  const { client } = gateway
  const own = await client.projects.show({ name: 'default' })
  const project = await client.projects.add({ name: 'hidden-project' })
  const place = { project: 'hidden-project', environment: 'hidden-env' }
  const environment = await client.environments.add({ name: 'hidden-env', project: 'hidden-project' })
  const credential = 'sk-canary-credential-0001'
  const provider = await client.providers.add({
    name: 'hidden-provider',
    kind: 'openai',
    credential,
    projects: ['hidden-project'],
  })
  await client.providers.add({
    name: 'shared',
    kind: 'openai',
    credential,
    baseUrl: 'https://hidden-host.example/v1',
    headers: { 'x-team': 'hidden-header' },
    tags: { of: 'hidden-tag' },
    projects: ['default', 'hidden-project'],
  })
  const route = await client.routes.add({ model: 'hidden-model', provider: 'shared', ...place })
  await client.routes.add({ model: 'own-model', provider: 'shared' })
  const key = await client.keys.create({ name: 'hidden-key', ...place })
  await client.keys.create({ name: 'own-key' })
  const object = await client.objects.adopt({ name: 'hidden-file', type: 'file', provider: 'shared', ...place })
  await client.objects.adopt({ name: 'own-file', type: 'file', provider: 'shared' })
  const policy = await client.policies.add({ name: 'hidden-policy', attach: ['project:hidden-project'] })
  await client.policies.add({ name: 'both', attach: ['project:default', `key:${key.id}`] })
  await client.policies.add({ name: 'own-policy', attach: ['project:default'] })
  const operator = await client.operators.add({ name: 'hidden-operator', role: 'admin', projects: ['hidden-project'] })
  const token = await client.tokens.create({ name: 'hidden-token', project: 'hidden-project' })
  await client.workspace.rename({ name: 'hidden-workspace' })
  const [line] = await client.audit.list({ resource: 'hidden-key' })
  const records = makeRecords(key.id)
  const writer = new JournalWriter(join(dirname(gateway.databasePath), 'journal'), {
    boot: 'live',
    thread: 0,
    sequence: 0,
  })
  for (const record of Object.values(records)) writer.write({ kind: 'settled', record })
  // Keys were last used when this is read.
  await gateway.store.ingest()
  const names = { project: 'hidden-project', environment: 'hidden-env', provider: 'hidden-provider', key: 'hidden-key' }
  const more = { model: 'hidden-model', policy: 'hidden-policy', operator: 'hidden-operator', token: 'hidden-token' }
  return {
    gateway,
    own: { project: own.id },
    names: { ...names, ...more, object: object.id, request: records.hidden.id, line: line?.id ?? '' },
    ids: {
      project: project.id,
      environment: environment.id,
      provider: provider.id,
      key: key.id,
      model: route.id,
      policy: policy.id,
      operator: operator.id,
      token: token.id,
      object: object.id,
      request: records.hidden.id,
      line: line?.id ?? '',
    },
    records,
  }
}

function makeRecords(keyId: string) {
  const notes = [
    { rule: 'route', verdict: 'note' as const, text: 'Another scope has a route: hidden-model.' },
    {
      rule: 'object',
      verdict: 'note' as const,
      text: 'The file "f" belongs to another scope (project hidden-project).',
    },
  ]
  return {
    own: sampleRecord({ model: 'own-model', provider: 'shared', routing_signals: notes, cost: null }),
    hidden: sampleRecord({
      project: 'hidden-project',
      environment: 'hidden-env',
      key: { id: keyId, name: 'hidden-key' },
      model: 'hidden-model',
      provider: 'hidden-provider',
      tokens: { input: 987654, output: 987654, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' },
      client: { address: '192.0.2.99', user_agent: 'hidden-agent' },
    }),
  }
}

export const prefixes = {
  project: 'prj',
  environment: 'env',
  provider: 'prv',
  key: 'key',
  model: 'rte',
  policy: 'pol',
} as const

/** What is nobody's, of the same form. */
export function nowhere(kind: string): string {
  if (kind === 'request') return newId('req')
  if (kind === 'object') return 'nowhere-file'
  if (kind === 'line') return newId('aud')
  if (kind === 'operator') return newId('opr')
  if (kind === 'token') return newId('tok')
  return newId(prefixes[kind as keyof typeof prefixes])
}
