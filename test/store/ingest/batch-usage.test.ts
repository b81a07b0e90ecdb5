import { describe, expect, it } from 'vitest'
import type { BatchUsageEntry, ObjectsEntry } from '../../../src/core/journal-format.ts'
import type { TokenUsage } from '../../../src/core/record.ts'
import { JournalWriter } from '../../support/journal-writer.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { addScope, now, startTestStore, storePaths, temporaryDirectory } from '../support.ts'

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

  it('of other work counts what the record of its making does not hold, once that is known', async () => {
    const data = storePaths(temporaryDirectory())
    const store = await startTestStore(data)
    const { project, environment } = await addScope(store)
    const owner = { projectId: project.id, environmentId: environment.id, keyId: 'key_maker', ...place }
    const usage = (id: string, madeBy: string | null, more: Partial<BatchUsageEntry> = {}): BatchUsageEntry => ({
      ...{ kind: 'batch-usage', type: 'response', requestId: 'req_poll', time: now, batchId: id, lane: 'openai' },
      ...{ provider: 'openai', madeBy, owner, sums: [{ id: `req_of_${id}`, model: 'gpt', lines: 1, tokens }] },
      ...more,
    })
    const made = (id: string, of: TokenUsage | null) =>
      ({ kind: 'settled', record: sampleRecord({ id, state: 'settled', tokens: of }) }) as const
    const running = {
      kind: 'admitted',
      record: sampleRecord({ id: 'req_runs', state: 'admitted', status: null }),
    } as const
    const writer = new JournalWriter(data.journalDirectory, { boot: 'live', thread: 0, sequence: 0 })
    writer.write(
      ...[made('req_none', null), made('req_cut', { ...tokens, output: 1, source: 'estimated' })],
      ...[made('req_all', tokens), running],
      ...[usage('polled', 'req_none'), usage('polled', 'req_none'), usage('cut', 'req_cut')],
      ...[usage('whole', 'req_all'), usage('unsettled', 'req_runs'), usage('pruned', 'req_gone')],
      usage('run', null, { type: 'eval_run' }),
    )
    await store.ingest()
    const counted = (await store.records.list({ limit: 20 })).filter(({ operation }) => operation?.endsWith('.result'))
    expect(counted.map(({ id, operation, tokens: used }) => [id, operation, used?.input, used?.output]).sort()).toEqual(
      [
        ['req_of_cut', 'responses.result', 0, 1],
        ['req_of_polled', 'responses.result', 3, 2],
        ['req_of_run', 'evals.runs.result', 3, 2],
      ],
    )
  })
})
