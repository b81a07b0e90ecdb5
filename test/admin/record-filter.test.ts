import { describe, expect, it } from 'vitest'
import { compareRequests } from '../../src/admin/handlers/requests/compare-requests.ts'
import { csvHead, csvRecord } from '../../src/admin/handlers/requests/record-csv.ts'
import { matchesFilter } from '../../src/admin/handlers/requests/record-filter.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import { parseCsv } from '../../src/core/text/csv.ts'
import type { RecordFilter } from '../../src/store/api.ts'
import { fellBack, sampleAttempt, sampleRecord } from '../support/sample-record.ts'

const failed = { code: 'provider_error', origin: 'provider', message: '' } as const
const record = sampleRecord({
  id: 'req_01abcdefghjkmnpqrstvwxyz00',
  tags: { team: 'search', empty: '' },
  attempts: fellBack('azure', 'openai'),
  duration_ms: 1500,
  node: 'gw-a',
})

describe('a request that is followed', () => {
  it.each<[Partial<RecordFilter>, boolean]>([
    [{}, true],
    [{ project: 'default' }, true],
    [{ project: 'search' }, false],
    [{ key: 'key_1' }, true],
    [{ key: 'ci' }, true],
    [{ key: 'c' }, false],
    [{ model: 'gpt-4o' }, false],
    [{ provider: 'openai', lane: 'openai', node: 'gw-a' }, true],
    [{ node: 'gw-b' }, false],
    [{ state: 'admitted' }, false],
    [{ status: '200' }, true],
    [{ status: '2xx' }, true],
    [{ status: '20' }, false],
    [{ status: '4xx' }, false],
    [{ errors: true }, false],
    [{ slowerThanMs: 1500 }, true],
    [{ slowerThanMs: 1501 }, false],
    [{ fellBack: true }, true],
    [{ failedAt: 'azure' }, true],
    [{ failedAt: 'openai' }, false],
    [{ tags: { team: 'search' } }, true],
    [{ tags: { team: null } }, true],
    [{ tags: { empty: '' } }, true],
    [{ tags: { team: 'search', empty: 'x' } }, false],
    [{ tags: { toString: null } }, false],
    [{ tags: {} }, true],
    [{ id: 'abcdef' }, true],
    // As a list finds it, and as somebody may have it from a log in capitals.
    [{ id: 'ABCDEF' }, true],
    [{ id: 'uuu' }, false],
    // Times are of what was, not of what is happening.
    [{ since: '2100-01-01T00:00:00Z', until: '1970-01-01T00:00:00Z' }, true],
  ])('by %j: %j', (filter, matches) => {
    expect(matchesFilter(record, { limit: 1, ...filter })).toBe(matches)
  })

  it.each<[string, Partial<RequestRecord>, Partial<RecordFilter>, boolean]>([
    ['without a status', { status: null }, { status: '2xx' }, false],
    ['without a status, under way', { status: null, state: 'admitted' }, { state: 'admitted' }, true],
    ['without a key', { key: null }, { key: 'ci' }, false],
    ['that broke off under a status of success', { error: failed }, { errors: true }, true],
    ['that was refused', { status: 429, error: null }, { errors: true }, true],
    ['of an error', { error: failed }, { error: 'provider_error' }, true],
    ['of another error', { error: failed }, { error: 'internal' }, false],
    ['that has no duration yet', { duration_ms: null }, { slowerThanMs: 1 }, false],
    ['whose last attempt failed', { attempts: [sampleAttempt('a', 'provider_timeout')] }, { failedAt: 'a' }, true],
    ['without attempts', { attempts: [] }, { fellBack: true }, false],
  ])('%s', (_what, change, filter, matches) => {
    expect(matchesFilter({ ...record, ...change }, { limit: 1, ...filter })).toBe(matches)
  })
})

describe('a record in a table', () => {
  const cells = (of: RequestRecord) => {
    const [head = [], row = []] = parseCsv(csvHead() + csvRecord(of))
    return Object.fromEntries(head.map((name, place) => [name, row[place]]))
  }

  it('has a cell for each column, each column once, whatever it holds', () => {
    const [head = []] = parseCsv(csvHead())
    expect(new Set(head).size).toBe(head.length)
    const wild = sampleRecord({
      model: 'a,"b"\nc',
      tags: { 'x,y': '"' },
      client: { address: null, user_agent: '=1+1' },
    })
    for (const each of [record, wild, sampleRecord({ key: null, tokens: null, cost: null, status: null })])
      expect(parseCsv(csvRecord(each))).toEqual([expect.objectContaining({ length: head.length })])
    expect(cells(wild)).toMatchObject({ model: 'a,"b"\nc', tags: '{"x,y":"\\""}', client_user_agent: "'=1+1" })
  })

  it('tells nothing from zero', () => {
    expect(cells(sampleRecord({ tokens: null, cost: null, duration_ms: null }))).toMatchObject({
      ...{ input_tokens: '', usd: '', duration_ms: '' },
    })
    expect(cells(sampleRecord({ cost: { usd: 0, price_version: 'v' }, duration_ms: 0 }))).toMatchObject({
      ...{ usd: '0', duration_ms: '0' },
    })
  })
})

describe('a request that was sent again', () => {
  const before = {
    ...{
      request_id: 'req_1',
      model: 'm',
      status: 200,
      provider: 'openai',
      upstream_model: 'gpt-4o',
      duration_ms: 1200,
      first_byte_ms: 300,
    },
    ...{ input: 90_000, output: 5, cost_usd: 0.3, answer: 'one' },
  }

  it('is compared figure by figure, without what binary makes of sums', () => {
    const { difference, text } = compareRequests(before, { ...before, duration_ms: 900, cost_usd: 0.1, answer: 'two' })
    expect(difference).toMatchObject({ duration_ms: -300, first_byte_ms: 0, input: 0, cost_usd: -0.2 })
    expect(text).toContain('Before: 200 from openai/gpt-4o in 1.2 s, tokens: 90,000 in and 5 out, $0.30.')
    expect(text).toContain('Now: 200 from openai/gpt-4o in 900 ms')
  })

  it('has no difference in what either lacks', () => {
    const bare = { ...before, status: null, provider: null, upstream_model: null, duration_ms: null, answer: null }
    const { difference, text } = compareRequests({ ...bare, input: null, cost_usd: null }, before)
    expect(difference).toMatchObject({ duration_ms: null, input: null, output: 0, cost_usd: null, answer: null })
    expect(text).toContain('Before: no status. Now: 200')
    expect(text).toContain('The first answer was not stored.')
    expect(compareRequests(before, { ...before, upstream_model: null }).text).toContain('200 from openai in')
  })

  it('is said to be the same where it is', () => {
    expect(compareRequests(before, before).text).toContain('The texts are the same.')
  })
})
