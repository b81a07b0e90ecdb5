import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import { ownTraceId, readTraceContext, spanIdOf, writeTraceparent } from '../../src/core/trace-context.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'

describe('a traceparent', () => {
  it('is read', () => {
    expect(readTraceContext(`00-${trace}-${parent}-01`, 'a=1,b=2')).toEqual({
      ...{ trace_id: trace, parent_id: parent, sampled: true, state: 'a=1,b=2' },
    })
    expect(readTraceContext(`00-${trace}-${parent}-02`, undefined)).toMatchObject({ sampled: false, state: null })
    // Of a version to come, what this one knows is read.
    expect(readTraceContext(`01-${trace}-${parent}-01-more`, undefined)).toMatchObject({ trace_id: trace })
  })

  it.each([
    ['no version', `${trace}-${parent}-01`],
    ['the version that is forbidden', `ff-${trace}-${parent}-01`],
    ['capitals', `00-${trace.toUpperCase()}-${parent}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${parent}-01`],
    ['a parent of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['more than its version has', `00-${trace}-${parent}-01-more`],
    ['two headers', `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`],
    ['nothing', ''],
  ])('with %s is not valid', (_what, text) => {
    expect(readTraceContext(text, undefined)).toBeNull()
  })

  it('keeps no state that is too long or has controls', () => {
    for (const state of ['x'.repeat(513), 'a=\u0001', ''])
      expect(readTraceContext(`00-${trace}-${parent}-01`, state)?.state).toBeNull()
  })

  it('never throws, and is written as it is read', () => {
    const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
    fc.assert(
      fc.property(hex(32), hex(16), fc.constantFrom('00', '01'), fc.string(), (ids, span, flags, junk) => {
        readTraceContext(junk, junk)
        const text = `00-${ids}-${span}-${flags}`
        const found = readTraceContext(text, undefined)
        if (/^0+$/.test(ids) || /^0+$/.test(span)) expect(found).toBeNull()
        else expect(found && writeTraceparent(found, span)).toBe(text)
      }),
    )
  })
})

it('the ids of a record are its own, valid and different for each span', () => {
  const seen = new Set<string>()
  for (let count = 0; count < 2000; count++) {
    const id = newId('req', 1_764_000_000_000)
    expect(ownTraceId(id)).toMatch(/^[0-9a-f]{32}$/)
    expect(ownTraceId(id)).toBe(ownTraceId(id))
    for (const place of [0, 1, 2]) {
      const span = spanIdOf(id, place)
      expect(span).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
      seen.add(span)
    }
  }
  expect(seen.size).toBe(6000)
})
