import fc from 'fast-check'
import { expect, it } from 'vitest'
import { scanObject } from '../../../src/core/json/json-scan.ts'
import { foldName } from '../../../src/core/watched-names.ts'
import { JsonMembers, readTree } from '../../../src/lanes/json-tree.ts'

const wanted = ['model', 'stream', 'max_tokens', 'maxTokens', 'k', 'skill']

type Meant = string | { inOtherLetters: string } | null

const objectOf = (key: Uint8Array) => Buffer.concat([Buffer.from('{"'), key, Buffer.from('":0}')])

/** What the scanner makes of the key. */
function scannedName(key: Uint8Array): Meant {
  const scan = scanObject(objectOf(key), wanted)
  if (!scan.ok) return null
  return scan.members[0]?.name ?? (scan.odd === null ? null : { inOtherLetters: scan.odd.meant })
}

/** What a parser makes of the key, compared as text. */
function meantName(key: string): Meant {
  try {
    const name = String(JSON.parse(`"${key}"`))
    if (wanted.includes(name)) return name
    const meant = wanted.find((one) => foldName(one) === foldName(name))
    return meant === undefined ? null : { inOtherLetters: meant }
  } catch {
    return null
  }
}

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
const spellings = new Map([...new Set(wanted.join(''))].map((one) => [one, spell(one)]))

/** All spellings of one letter. */
function spell(one: string): string[] {
  const folding = one === 's' ? ['ſ', 'Å¿'] : one === 'k' ? ['\u212a', 'â\u0084ª'] : []
  const mixed = folding.map((each) => each[0] + escaped(each.slice(1)))
  return [
    one,
    one,
    one,
    one.toUpperCase(),
    escaped(one),
    escaped(one.toUpperCase()),
    ...folding.flatMap((each) => [each, escaped(each)]),
    ...mixed,
  ]
}

const letter = fc.constantFrom(...[...spellings.values()].flat(), 'Å', 'ž', 'â\u0084', '\u212b')
const odd = fc.constantFrom(
  '\\',
  '\\n',
  '\\/',
  '\\"',
  '\\\\',
  '\\u12',
  '\\u00zz',
  '\\q',
  'é',
  '😀',
  '\\ud83d',
  '\n',
  '\0',
  '/',
)
const spelled = fc
  .tuple(fc.constantFrom(...wanted), fc.array(fc.nat({ max: 20 }), { minLength: 10, maxLength: 10 }))
  .map(([name, chosen]) =>
    [...name].map((one, at) => spellings.get(one)![chosen[at]! % spellings.get(one)!.length]).join(''),
  )

const key = fc.oneof(
  spelled,
  fc.tuple(spelled, odd).map(([name, more]) => name + more),
  fc.array(fc.oneof(letter, odd), { maxLength: 12 }).map((all) => all.join('')),
  fc.string(),
)

it('knows a wanted name in whatever spelling a parser does', () => {
  let known = 0
  fc.assert(
    fc.property(key, (text) => {
      const meant = meantName(text)
      if (meant !== null) known++
      expect(scannedName(Buffer.from(text))).toEqual(meant)
    }),
    { numRuns: 2000 },
  )
  expect(known).toBeGreaterThan(200)
})

it('reads a name as a parser does', () => {
  fc.assert(
    fc.property(key, (text) => {
      const meant = meantName(text)
      if (meant === null) return
      const tree = readTree(objectOf(Buffer.from(text)))
      const [entry] = tree?.root instanceof JsonMembers ? tree.root.entries : []
      if (typeof meant === 'string') expect(entry?.written).toBe(meant)
      else expect(entry?.name).toBe(foldName(meant.inOtherLetters))
    }),
    { numRuns: 2000 },
  )
})

it('knows no name in bytes that are not UTF-8', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 8 }), fc.constantFrom(...wanted), fc.nat(), (noise, name, where) => {
      const at = where % (name.length + 1)
      const bytes = Buffer.concat([Buffer.from(name.slice(0, at)), noise, Buffer.from(name.slice(at))])
      const text = bytes.toString('utf8')
      expect(scannedName(bytes)).toEqual(meantName(text))
    }),
    { numRuns: 2000 },
  )
})

it('takes no control character for the underscore of a name', () => {
  expect(scannedName(Buffer.from('max\x7ftokens'))).toBeNull()
  expect(scannedName(Buffer.from('MAX_tokens'))).toEqual({ inOtherLetters: 'max_tokens' })
})
