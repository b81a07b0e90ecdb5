import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RequestRecord } from '../../../src/core/record.ts'
import { groupsOf } from '../../../src/store/records/record-groups.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { countedTags, nameTags, readRecord, readTags, TagReader } from '../../../src/store/records/record-json.ts'
import type { SumRow } from '../../../src/store/records/record-source.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { anyText } from '../support.ts'

const lists = ['attempts', 'timeline', 'policy_signals', 'routing_signals', 'losses'] as const

describe('the head of a record', () => {
  const text = anyText()

  it('is what parsing all of it gives, whatever its texts hold', () => {
    fc.assert(
      fc.property(text, text, fc.constantFrom(',"attempts":', '","attempts":[', '}', ''), (model, message, mark) => {
        const error = { code: 'provider_error' as const, origin: 'provider' as const, message: mark + message }
        const record = sampleRecord({ model: model + mark, error, tags: { attempts: mark } })
        const head = readHead(JSON.stringify(record), 'settled')
        const { figures: _, ...fields } = head ?? { figures: null }
        expect(record).toMatchObject(fields)
        expect(head).not.toBeNull()
      }),
    )
  })

  it('loses no field to another order of them', () => {
    const record = sampleRecord({ shadow_of: 'req_original' })
    const names = Object.keys(record)
    fc.assert(
      fc.property(fc.shuffledSubarray(names, { minLength: names.length }), (order) => {
        const turned = Object.fromEntries(order.map((name) => [name, record[name as keyof RequestRecord]]))
        expect(readHead(JSON.stringify(turned), 'settled')).toEqual(readHead(JSON.stringify(record), 'settled'))
      }),
    )
  })

  it('has the first byte of streams only: a whole response comes as one', () => {
    const head = (streamed: boolean) => readHead(JSON.stringify(sampleRecord({ streamed })), 'settled')
    expect([head(true)?.first_byte_ms, head(false)?.first_byte_ms]).toEqual([50, null])
  })

  it('has no first byte of a whole answer that failed and names no attempt', () => {
    const failed = { status: 500, attempts: [], provider: 'openai', duration_ms: 60, first_byte_ms: 50 }
    const figures = (streamed: boolean) =>
      readHead(JSON.stringify(sampleRecord({ ...failed, streamed })), 'settled')?.figures
    expect(figures(true)).toMatchObject([{ outcome: 'failed', duration: 60, firstByte: 50 }])
    expect(figures(false)).toMatchObject([{ outcome: 'failed', duration: 60, firstByte: null }])
  })

  it('reads what is absent as null', () => {
    const { id, time } = sampleRecord()
    const head = readHead(JSON.stringify({ id, time }), 'admitted')
    expect(head).toMatchObject({ id, time, state: 'admitted', lane: null, key: null, tokens: null })
    expect(Object.values(head ?? {})).not.toContain(undefined)
  })

  it('writes times so that they sort as text', () => {
    const head = readHead(JSON.stringify(sampleRecord({ time: '2026-03-01T12:00:00+02:00' })), 'settled')
    expect(head?.time).toBe('2026-03-01T10:00:00.000Z')
  })

  it.each(['', 'null', '[]', '{', '{"id":1}', '{"id":"a"}', '{"id":"a","time":"soon"}', '"text"'])(
    'is not made of %s',
    (text) => expect(readHead(text, 'settled')).toBeNull(),
  )
})

describe('a stored record', () => {
  it('is whole again, whatever the journal left out', () => {
    const whole = sampleRecord()
    const { id, time, key } = whole
    const read = readRecord(JSON.stringify({ id, time, key }), id)
    expect(Object.keys(read)).toEqual(Object.keys(whole))
    expect(read).toMatchObject({ id, time, key, provider: null, tags: {}, request_bytes: 0 })
    for (const list of lists) expect(read[list]).toEqual([])
    expect(readRecord(JSON.stringify(whole), id)).toEqual(whole)
  })

  it('of an earlier version has the costs of its attempts, which nobody knows', () => {
    const { id, time } = sampleRecord()
    expect(readRecord(JSON.stringify({ id, time, attempts: [{ provider: 'openai' }] }), id).attempts).toEqual([
      { provider: 'openai', cost: null },
    ])
  })

  it('that cannot be read says so', () => {
    const { id } = sampleRecord()
    expect(readRecord('{"id":', id)).toMatchObject({
      id,
      policy_signals: [{ text: expect.stringContaining('cannot') }],
    })
  })
})

it('masks gateway keys that earlier versions wrote into records', () => {
  const key = `sp_live_${'a1B2'.repeat(12)}c`
  const text = JSON.stringify({ id: 'req_1', model: key, client: { user_agent: `x ${key}` }, tags: { a: key } })
  expect(JSON.stringify(readRecord(text, 'req_1'))).not.toContain(key)
  expect(readRecord(text, 'req_1')).toMatchObject({ model: 'sp_live_…', tags: { a: 'sp_live_…' } })
  expect(readTags(text)).toEqual({ a: 'sp_live_…' })
})

it('counts a tag with a key under the name that earlier versions gave it, and shows it masked', () => {
  const tags = { a: 'sk-proj-AbCd0123EfGh4567ijKlMnOpQrSt' }
  const text = JSON.stringify(sampleRecord({ tags }))
  expect([countedTags(text), nameTags(text)]).toEqual([['', `a=${tags.a}`], ['a=sk-…']])
  const sum = { requests: 1, tag: `a=${tags.a}` } as SumRow
  expect(groupsOf(sum, undefined, 'tag')).toEqual([{ id: 'a=sk-…', name: 'a=sk-…' }])
})

describe('tags from the end of a record', () => {
  it('are those of the whole, where the end tells them', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('tags', ',"tags":{', '","tags":{"a":"b"}}', '{}', 'é'))
    fc.assert(
      fc.property(fc.dictionary(word, word), word, fc.nat(400), (tags, model, from) => {
        const text = JSON.stringify(sampleRecord({ model, tags }))
        const found = new TagReader().read(text.slice(-from))
        expect([null, nameTags(text)]).toContainEqual(found)
        expect(new TagReader().read(text)).toEqual(nameTags(text))
      }),
    )
    const { tags, ...others } = sampleRecord({ tags: { team: 'a' } })
    expect(new TagReader().read(JSON.stringify({ ...others, tags, later: {} }))).toBeNull()
  })

  it('are parsed once for all records that have the same', () => {
    const reader = new TagReader()
    const read = (model: string, team: string) => reader.read(JSON.stringify(sampleRecord({ model, tags: { team } })))
    expect(read('m', 'a')).toBe(read('n', 'a'))
    expect(read('m', 'b')).toEqual(['team=b'])
  })
})
