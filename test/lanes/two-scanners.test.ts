import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FormScanner } from '../../src/core/bytes/form-scan.ts'
import { scanObject } from '../../src/core/json/json-scan.ts'
import { readValue } from '../../src/core/json/json-value.ts'
import { foldName } from '../../src/core/watched-names.ts'
import { JsonMembers, JsonText, readTree } from '../../src/lanes/json-tree.ts'
import { scanList, writeList } from '../../src/lanes/list-page.ts'

/**
 * What a request may do is decided by what a scanner finds in its bytes. Where a second scanner reads the same bytes, here or at the provider,
 * both must find the same, or the request must be refused.
 */

const wanted = ['model', 'id', 'file_id', 'input']

const spell = (letter: string) =>
  fc.constantFrom(
    letter,
    letter,
    letter,
    letter.toUpperCase(),
    `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
    letter === 'k' ? '\u212a' : letter === 's' ? '\u017f' : letter,
  )
const key = fc
  .constantFrom(...wanted, 'content', 'metadata')
  .chain((name) =>
    fc.oneof(
      fc.constant(name),
      fc.tuple(...[...name].map(spell)).map((letters) => letters.join('')),
    ),
  )
  .map((name) => `"${name}"`)
const text = fc
  .oneof(fc.constantFrom('a', 'file-1', 'models/b', ''), fc.string({ maxLength: 8 }))
  .map((value) => JSON.stringify(value))
const space = fc.constantFrom('', '', ' ', '\n\t')
const { value } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.constantFrom('null', 'true', '1', '-0.5e3', '[]', '{}'),
    tie('object'),
    tie('list'),
  ),
  object: fc
    .array(fc.tuple(space, key, space, tie('value')), { maxLength: 5 })
    .map((members) => `{${members.map(([a, name, b, one]) => `${a}${name}${b}:${b}${one}${a}`).join(',')}}`),
  list: fc.array(tie('value'), { maxLength: 4 }).map((all) => `[${all.join(' ,')}]`),
}))
const objectText = fc
  .array(fc.tuple(space, key, value), { minLength: 1, maxLength: 6 })
  .map((members) => `{${members.map(([a, name, one]) => `${a}${name}:${one}${a}`).join(',')}}`)

it('a tree has the names and texts of an object that a scan has', () => {
  let found = 0
  fc.assert(
    fc.property(objectText, (json) => {
      const bytes = Buffer.from(json)
      const scan = scanObject(bytes, wanted, undefined, null, true)
      const tree = readTree(bytes)
      if (!scan.ok || !(tree?.root instanceof JsonMembers)) throw new Error(`not read: ${json}`)
      const { entries } = tree.root
      const scanned = scan.members.map(({ name, start, end }) => [name, readValue(bytes, { start, end })])
      const inTree = entries.filter(({ written }) => wanted.includes(written))
      expect(inTree.map(({ written }) => written)).toEqual(scanned.map(([name]) => name))
      for (const [index, [, one]] of scanned.entries()) {
        const other = inTree[index]?.value
        expect(other instanceof JsonText ? other.readId() : null).toBe(typeof one === 'string' ? one : null)
      }
      // A name in other letters is refused by the scan, and is the same name in the tree.
      const others = entries.filter(({ name, written }) => wanted.includes(name) && !wanted.includes(written))
      expect(others.at(-1)?.name ?? null).toBe(scan.odd === null ? null : foldName(scan.odd.meant))
      found += scanned.length
    }),
    { numRuns: 1000 },
  )
  expect(found).toBeGreaterThan(500)
})

it('a page of a list has the elements, with the ids, that a parser finds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(objectText, value), { maxLength: 5 }),
      fc.constantFrom('"data"', '"\\u0064ata"'),
      fc.array(fc.tuple(fc.constantFrom('"has_more"', '"object"'), value), { maxLength: 2 }),
      (elements, name, around) => {
        const members = [...around.map(([key, one]) => `${key}:${one}`), `${name}: [${elements.join(', ')} ]`]
        const bytes = Buffer.from(`{${members.join(',')}}`)
        const parsed = JSON.parse(bytes.toString()) as { data: unknown[] }
        const list = scanList(bytes, 'data', 'id', ['has_more'])
        if (list === null) throw new Error(`not read: ${bytes}`)
        const idOf = (one: unknown) => {
          const id = typeof one === 'object' && one !== null ? Reflect.get(one, 'id') : null
          return typeof id === 'string' ? id : ''
        }
        expect(list.elements.map(({ name }) => name)).toEqual(parsed.data.map(idOf))
        const kept = list.elements.flatMap((_, index) => (index % 2 === 0 ? [index] : []))
        const written = JSON.parse(writeList(bytes, list, kept, {}).toString()) as { data: unknown[] }
        expect(written).toEqual({ ...parsed, data: parsed.data.filter((_, index) => index % 2 === 0) })
      },
    ),
    { numRuns: 500 },
  )
})

const boundary = 'form-boundary'
const part = fc
  .tuple(
    fc.constantFrom('model', 'model', 'stream', 'prompt', 'Model', 'model '),
    fc.constantFrom('"', '"', ''),
    fc.constantFrom('Content-Disposition', 'content-disposition'),
    fc.constantFrom('', '\r\nContent-Type: text/plain'),
    fc.oneof(fc.constantFrom('a', 'gpt-1', '', `--${boundary}`, '\r\n--', '\r\n\r\n'), fc.string({ maxLength: 12 })),
  )
  .map(
    ([name, mark, header, type, content]) =>
      `${header}: form-data; name=${mark}${name}${mark}${type}\r\n\r\n${content}`,
  )
const noise = fc.tuple(fc.nat(), fc.constantFrom('\r\n', '\n', '"', '--', ';', ' ', '\0', `--${boundary}\r\n`, ''))
const form = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.option(noise, { freq: 2 }))
  .map(([parts, odd]) => {
    const whole = `${parts.map((one) => `--${boundary}\r\n${one}\r\n`).join('')}--${boundary}--\r\n`
    if (odd === null) return whole
    const at = odd[0] % whole.length
    return whole.slice(0, at) + odd[1] + whole.slice(at)
  })

it('a form has the model that a parser finds, or is refused', async () => {
  let agreed = 0
  await fc.assert(
    fc.asyncProperty(form, fc.array(fc.nat({ max: 400 }), { maxLength: 4 }), async (written, cuts) => {
      const bytes = Buffer.from(written)
      const scanner = new FormScanner(boundary, ['model'])
      let from = 0
      for (const cut of [...cuts.toSorted((one, other) => one - other), bytes.length]) {
        const to = Math.max(from, Math.min(cut, bytes.length))
        scanner.push(bytes.subarray(from, to))
        from = to
      }
      scanner.end()
      if (scanner.wrong !== null) return
      const type = `multipart/form-data; boundary=${boundary}`
      const parsed = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => null)
      if (parsed === null) return
      const models = parsed.getAll('model').map((one) => (typeof one === 'string' ? one : null))
      expect(scanner.fields.filter(({ name }) => name === 'model').map(({ value: found }) => found)).toEqual(models)
      if (models.length > 0) agreed++
    }),
    { numRuns: 1000 },
  )
  expect(agreed).toBeGreaterThan(100)
})
