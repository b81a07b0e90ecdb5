import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanElements, scanObject } from '../../../src/core/json/json-scan.ts'
import { SlicedScan, scanInSlices } from '../../../src/core/json/sliced-json.ts'
import { nextTurn } from '../../../src/core/threads/slices.ts'
import { WatchedNames } from '../../../src/core/watched-names.ts'
import { countedBytes, stepsOf } from '../../support/counted-bytes.ts'

const watched = new WatchedNames(['file_id', 'k'])
const other = new WatchedNames(['never_named'])
/** So much that the document counts as large; a text costs next to nothing to pass. */
const filler = `"filler":"${'x'.repeat(4_200_000)}"`
const fillerBytes = Buffer.from(filler)
const long = 'y'.repeat(140)

function scanned(bytes: Buffer): Buffer {
  const scan = new SlicedScan(bytes)
  for (let slices = 0; !scan.advance(50); slices++) if (slices > 1_000_000) throw new Error('no end')
  return bytes
}

function looksAt(bytes: Buffer) {
  const watch = { names: watched, seen: false }
  const scan = scanObject(bytes, ['model', 'messages', 'a'], undefined, watch)
  const inside = scan.ok
    ? scan.members.map((member) => [scanElements(bytes, member), scanObject(bytes, ['model', 'b'], member)])
    : []
  return { scan, inside, seen: watch.seen }
}

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 8 },
    fc.constantFrom(1, -2.5e3, true, null, '', 'plain', long, `${long}"\\é`, 'z'.repeat(5000), 'a"\\'.repeat(2000)),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('model', 'a', 'b', 'file_id', 'k', 'ſomething', long), tie('any'), { maxKeys: 4 }),
  ),
})).any

const space = fc.constantFrom('', ' ', '\n  ', ' '.repeat(5000))
const document = fc.record({
  messages: value,
  a: value,
  more: value,
  before: space,
  within: space,
  indent: fc.constantFrom(0, 2),
})

describe('a document that was gone over in slices', () => {
  it('is read as one that was not, whatever is in it', () => {
    fc.assert(
      fc.property(
        document,
        fc.option(fc.tuple(fc.nat(), fc.constantFrom('"', '}', ',', '\\', ' '))),
        (parts, broken) => {
          const { messages, a, more, before, within, indent } = parts
          const [one, two, three] = [messages, a, more].map((each) => JSON.stringify(each, null, indent))
          const [head, tail] = [`{${before}"messages":${within}${one},`, `,"a":${two}${within},"rest":${three}}`]
          const bytes = Buffer.concat([Buffer.from(head), fillerBytes, Buffer.from(tail)])
          // Anywhere but in the filler.
          const around = head.length + tail.length
          if (broken !== null)
            bytes.write(broken[1], (broken[0] % around) + (broken[0] % around > head.length ? filler.length : 0))
          const plain = looksAt(Buffer.from(bytes))
          const sliced = looksAt(scanned(bytes))
          expect(sliced.scan).toEqual(plain.scan)
          expect(sliced.inside).toEqual(plain.inside)
          // Of the whole document, where the other one stops at what is wrong.
          if (plain.seen) expect(sliced.seen).toBe(true)
          if (plain.scan.ok) expect(sliced.seen).toBe(plain.seen)
        },
      ),
      { numRuns: 300 },
    )
  }, 300_000)

  it('knows which names it has, of several sets', () => {
    const seen = (text: string, names: WatchedNames) => {
      const watch = { names, seen: false }
      scanObject(scanned(Buffer.from(`{${filler},"a":${text}}`)), ['a'], undefined, watch)
      return watch.seen
    }
    expect(seen('{"x":{"file_id":1}}', watched)).toBe(true)
    expect(seen('{"x":{"file_id":1}}', other)).toBe(false)
    expect(seen('{"x":{"FILE_ID":1}}', watched)).toBe(true)
    expect(seen('{"x":{"file_i\\u0064":1}}', watched)).toBe(true)
    expect(seen('{"x":"file_id"}', watched)).toBe(false)
  })

  it('is passed by what was found, not byte by byte', () => {
    const text = `{"a":[${`"${'x'.repeat(100_000)}",`.repeat(50)}1],"model":"m"}`
    const { bytes, work } = countedBytes(Buffer.from(text))
    scanned(bytes)
    const before = stepsOf(work)
    expect(scanObject(bytes, ['model'])).toMatchObject({ ok: true, members: [{ name: 'model' }] })
    expect(stepsOf(work) - before).toBeLessThan(100)
  })

  it.each([
    ['between values', `{"a":[${' '.repeat(300_000)}1],"model":"m"}`],
    ['before and behind them', `${'\r\n\t '.repeat(50_000)}{"a":[1],"model":"m"}${' '.repeat(100_000)}`],
    ['deep within', `{"a":${'['.repeat(20)}${' '.repeat(300_000)}${']'.repeat(20)},"model":"m"}`],
  ])('has its white space %s passed in slices, once', (_name, text) => {
    const { bytes, work } = countedBytes(Buffer.from(text))
    const scan = new SlicedScan(bytes)
    let longest = 0
    for (let before = 0, isDone = false; !isDone; before = stepsOf(work)) {
      isDone = scan.advance(1000)
      longest = Math.max(longest, stepsOf(work) - before)
    }
    // A slice, what stands before the place where white space is found, and a look at one byte of 4096.
    expect(longest).toBeLessThan(3 * 4096 + 1000)
    const before = stepsOf(work)
    expect(before).toBeLessThan(1.2 * text.length)
    expect(scanObject(bytes, ['model'])).toMatchObject({ ok: true, members: [{ name: 'model' }] })
    expect(stepsOf(work) - before).toBeLessThan(2 * 4096 + 1000)
  })

  it('has a text of escaped quotes passed in slices', () => {
    const text = `{"a":"${'\\"'.repeat(300_000)}\\\\","model":"m"}`
    const { bytes, work } = countedBytes(Buffer.from(text))
    const scan = new SlicedScan(bytes)
    let longest = 0
    for (let before = 0, isDone = false; !isDone; before = stepsOf(work)) {
      isDone = scan.advance(10_000)
      longest = Math.max(longest, stepsOf(work) - before)
    }
    expect(longest).toBeLessThan(3 * 10_000)
    expect(scanObject(bytes, ['a', 'model'])).toMatchObject({ ok: true, members: [{ name: 'a' }, { name: 'model' }] })
  })

  it('is refused for a key of more bytes than all names of an object may have, at any depth', () => {
    const text = `{"a":{"${'x'.repeat(4_300_000)}":1},"model":"m"}`
    expect(scanObject(scanned(Buffer.from(text)), ['a'])).toEqual(scanObject(Buffer.from(text), ['a']))
    expect(scanObject(Buffer.from(text), ['a'])).toMatchObject({ ok: false, tooMany: true })
  })

  it('is refused for too many values once, and no later look goes through them again', () => {
    const text = `{"a":[${'1,'.repeat(3_100_000)}1]}`
    expect(scanObject(scanned(Buffer.from(text)), ['a'])).toEqual(scanObject(Buffer.from(text), ['a']))
    expect(scanObject(Buffer.from(text), ['a'])).toMatchObject({ ok: false, tooMany: true })
  })

  it('lets others have their turn in between', async () => {
    const bytes = Buffer.from(`{"a":[${'"0123456789",'.repeat(1_000_000)}1]}`)
    let turns = 0
    let done = false
    const scan = scanInSlices(bytes).then(() => (done = true))
    while (!done) {
      await nextTurn()
      turns++
    }
    await scan
    expect(turns).toBeGreaterThan(4)
  })
})

it.each([
  ['in front', true, `{"a":["sp1.AQ"],${filler}}`],
  ['behind all', true, `{${filler},"b":{${filler},"a":"sp1.AQ"}}`],
  ['as Gemini’s clients send it', true, `{${filler},"thoughtSignature":"c3AxLkFR"}`],
  ['only quoted, or as a name', false, `{"a":"\\"sp1.","sp1.":"s",${filler},"b":"x sp1."}`],
])('remembers from the scan in slices a sealed value %s', async (_where, sealed, text) => {
  const bytes = Buffer.from(text)
  await scanInSlices(bytes)
  expect(scanObject(bytes, [])).toMatchObject({ ok: true, sealed })
})

it('refuses a number of more digits than anybody writes', () => {
  expect(scanObject(Buffer.from(`{"a":${'1'.repeat(4000)}}`), [])).toMatchObject({ ok: true })
  expect(scanObject(Buffer.from(`{"a":${'1'.repeat(5000)}}`), [])).toMatchObject({ ok: false, at: 5 + 4096 })
})
