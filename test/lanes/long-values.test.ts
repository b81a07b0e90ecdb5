import { describe, expect, it } from 'vitest'
import { scanObject } from '../../src/core/json/json-scan.ts'
import { SlicedScan } from '../../src/core/json/sliced-json.ts'
import { mayBeSigned, readConversation } from '../../src/lanes/conversation.ts'
import { readModel, readOutputLimit, readStream } from '../../src/lanes/request-body.ts'
import { countedBytes, stepsOf } from '../support/counted-bytes.ts'

const long = 'm'.repeat(1_000_000)

function read(text: string) {
  const { bytes, work } = countedBytes(Buffer.from(text))
  const scan = scanObject(bytes, ['model', 'stream', 'n', 'max_tokens'])
  const members = scan.ok ? scan.members : []
  const limits = { names: ['max_tokens'], choices: ['n'], within: null }
  return {
    model: readModel(bytes, members, false),
    stream: readStream(bytes, members),
    limit: readOutputLimit(bytes, members, limits),
    decoded: work.decoded,
  }
}

describe('a value that only means something where it is short', () => {
  it('is not read where it is long, and refused as what it is', () => {
    const name = read(`{"model":"${long}","stream":"${long}","max_tokens":"${long}"}`)
    expect(name.model).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('512 characters') })
    expect(name.stream).toMatchObject({ param: 'stream' })
    expect(name.limit).toBeNull()
    expect(name.decoded).toBe(0)
    const list = read(`{"model":["${long}"]}`)
    expect(list.model).toMatchObject({ message: '`model` must be a string.' })
    expect(list.decoded).toBe(0)
  })

  it('is read as far as its escapes may make it long', () => {
    const { model } = read(`{"model":"${'\\u006d'.repeat(512)}"}`)
    expect(model).toMatchObject({ model: 'm'.repeat(512) })
  })
})

describe('a large body whose members are known', () => {
  const signed = { hint: 'thinking', names: ['signature'] }
  const filler = `"filler":"${'\\"ttl\\" thinking'.repeat(400_000)}"`
  const scan = (bytes: Buffer) => {
    const slices = new SlicedScan(bytes)
    while (!slices.advance(1_000_000));
  }
  const scanned = (text: string) => {
    const counted = countedBytes(Buffer.from(text))
    scan(counted.bytes)
    return counted
  }

  it('is not searched for a signature or a mark of the cache that it does not have', () => {
    const { bytes, work } = scanned(`{"messages":[],${filler}}`)
    const before = stepsOf(work)
    expect(mayBeSigned(bytes, signed)).toBe(false)
    expect(readConversation(bytes, signed)).toMatchObject({ signature: null })
    expect(stepsOf(work) - before).toBeLessThan(1000)
  })

  it('has both found that it has', () => {
    const block = `{"type":"thinking","signature":"${'A'.repeat(40)}","cache_control":{"type":"ephemeral","ttl":"1h"}}`
    // Not counted: that takes a hundred times as long.
    const bytes = Buffer.from(`{"messages":[{"role":"user","content":[${block}]}],${filler}}`)
    scan(bytes)
    expect(mayBeSigned(bytes, signed)).toBe(true)
    expect(readConversation(bytes, signed)).toMatchObject({
      signature: 'A'.repeat(40),
      start: { ttlMs: 3_600_000 },
    })
  })
})
