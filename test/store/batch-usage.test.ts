import { describe, expect, it } from 'vitest'
import type { BatchUsageEntry, ObjectsEntry } from '../../src/core/journal-format.ts'
import type { TokenUsage } from '../../src/core/record.ts'
import { JournalWriter } from '../support/journal-writer.ts'
import { addScope, now, startTestStore, storePaths, temporaryDirectory } from './support.ts'

const tokens: TokenUsage = { input: 3, output: 2, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' }
const place = { providerId: 'prv_1', credentialId: 'cre_1' }

describe('usage of a batch', () => {
  it('is a record once, also where the batch was deleted meanwhile or its results were brought again', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project, environment } = await addScope(store)
    const owner = { projectId: project.id, environmentId: environment.id, keyId: 'key_maker', ...place }
    const batch = { type: 'batch' as const, id: 'batch-1' }
    const change = (more: Partial<ObjectsEntry>): ObjectsEntry => ({
      ...{ kind: 'objects', requestId: 'req_1', time: now, owner, made: [], forgotten: [] },
      ...more,
    })
    const usage = (id: string, keyId: string, batchId = 'batch-1'): BatchUsageEntry => ({
      ...{ kind: 'batch-usage', requestId: `req_of_${id}`, time: now, batchId, lane: 'openai', provider: 'openai' },
      owner: { ...owner, keyId },
      sums: [{ id, model: 'gpt', lines: 1, tokens }],
    })
    const journal = (thread: number) => new JournalWriter(data.journalDirectory, { boot: 'live', thread, sequence: 0 })
    journal(0).write(change({ made: [batch] }), usage('req_a', 'key_reader'), change({ forgotten: [batch] }))
    await store.ingest()
    journal(1).write(usage('req_b', 'key_reader'), usage('req_c', 'key_reader', 'batch-unknown'))
    await store.ingest()
    const records = await store.records.list({ limit: 10 })
    expect(records.map(({ id, key }) => [id, key?.id]).sort()).toEqual([
      ['req_a', 'key_maker'],
      ['req_c', 'key_reader'],
    ])
    expect(records[0]).toMatchObject({ project: 'default', environment: 'production', tokens, state: 'settled' })
  })
})
