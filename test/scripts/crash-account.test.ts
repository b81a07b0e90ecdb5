import { describe, expect, it } from 'vitest'
import { Account } from '../../scripts/crash/account.ts'
import type { Call } from '../../scripts/crash/call.ts'
import type { RequestRecord, TokenUsage } from '../../src/core/record.ts'
import { sampleRecord } from '../support/sample-record.ts'

const usage: TokenUsage = { input: 1001, output: 101, cache_read: 0, cache_write: 0, reasoning: 7, source: 'reported' }
const hold: TokenUsage = { input: 25, output: 64, cache_read: 0, cache_write: 0, reasoning: 0, source: 'estimated' }
const interrupted = { rule: 'interrupted', verdict: 'note', text: 'charged' } as const

const answered: Call = {
  mark: 'mark-1-1',
  lane: 'openai',
  kind: 'whole',
  path: '/v1/chat/completions',
  headers: [],
  body: '',
  bodyBytes: 100,
  outputLimit: 64,
  endMark: null,
  id: 'req_1',
  status: 200,
  complete: true,
  hungUp: false,
  stores: false,
}
const cut: Call = { ...answered, status: null, complete: false }

function record(more: Partial<RequestRecord> = {}): RequestRecord {
  return sampleRecord({ id: 'req_1', tags: { mark: 'mark-1-1' }, status: 200, error: null, tokens: usage, ...more })
}

async function problemsOf(
  call: Call,
  records: RequestRecord[],
  reachedProvider = true,
  shared: RequestRecord | null = null,
): Promise<string[]> {
  const served = reachedProvider ? [{ status: 200, usage, whole: true }] : []
  const account = new Account(new Map(served.length > 0 ? [[call.mark, served]] : []))
  account.add(call)
  await account.check(records, async () => shared)
  account.checkAll(records)
  return account.problems
}

describe('the account of a crash run', () => {
  it('misses stored answers that nobody has', () => {
    const account = new Account(new Map())
    account.add({ ...answered, stores: true })
    account.add({ ...cut, mark: 'mark-1-2', stores: true })
    account.checkObjects(new Set(['req_1']))
    expect(account.problems).toEqual([])
    account.checkObjects(new Set())
    expect(account.problems).toHaveLength(1)
  })

  it.each<[string, Call, RequestRecord[]]>([
    ['an answer and its record', answered, [record()]],
    ['a cut answer whose end was journaled', cut, [record()]],
    [
      'a cut answer, charged its hold',
      cut,
      [record({ state: 'interrupted', tokens: hold, policy_signals: [interrupted] })],
    ],
    ['a refusal', { ...answered, kind: 'bad-key', status: 401 }, [record({ status: 401, tokens: null })]],
  ])('has nothing against %s', async (_name, call, records) => {
    expect(await problemsOf(call, records)).toEqual([])
  })

  it('lets a request go unrecorded that neither its client nor a provider knows of', async () => {
    expect(await problemsOf({ ...cut, id: null }, [], false)).toEqual([])
  })

  it('wants of a flood that each id names a record, its own or a shared one', async () => {
    const refused: Call = { ...answered, kind: 'flood', status: 401 }
    expect(await problemsOf(refused, [record({ status: 401, tokens: null })], false)).toEqual([])
    expect(await problemsOf(refused, [], false, record({ id: 'req_shared', status: 401 }))).toEqual([])
    expect(await problemsOf(refused, [], false)).toEqual([expect.stringMatching(/^lost: /)])
  })

  it.each<[string, Call, RequestRecord[], RegExp]>([
    ['an id without a record', answered, [], /^lost: .* has no record/],
    ['a call that a provider got', { ...cut, id: null }, [], /^lost: .* reached a provider/],
    ['two records of one call', answered, [record(), record({ id: 'req_2' })], /^doubled: /],
    ['another id than the client saw', answered, [record({ id: 'req_2' })], /^doubled: /],
    ['an id listed twice', answered, [record(), record()], /^doubled: an id is listed twice/],
    ['a record of nobody', answered, [record(), record({ id: 'req_2', tags: {} })], /^wrong: req_2 .* nobody/],
    ['a whole answer that is interrupted', answered, [record({ state: 'interrupted', tokens: hold })], /has it whole/],
    ['a record still under way', cut, [record({ state: 'admitted' })], /still admitted/],
    ['another status', answered, [record({ status: 502 })], /status 502/],
    ['a good key that is refused', { ...answered, status: 401 }, [record({ status: 401 })], /was answered 401/],
    ['other tokens', answered, [record({ tokens: { ...usage, output: 100 } })], /^wrong: .* not \{"input":1001/],
    ['an interrupted record without its hold', cut, [record({ state: 'interrupted', tokens: null })], /its hold/],
  ])('finds %s', async (_name, call, records, problem) => {
    const problems = await problemsOf(call, records)
    expect(problems).toEqual([expect.stringMatching(problem)])
  })
})
