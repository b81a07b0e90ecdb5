import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FormField, FormScanner, readBoundary } from '../../../src/core/bytes/form-scan.ts'

const boundary = '----form-boundary-1'

interface Part {
  name: string
  file?: string
  type?: string
  value: Buffer
}

function write(parts: readonly Part[], ending = `--${boundary}--\r\n`): Buffer {
  const pieces = parts.flatMap(({ name, file, type, value }) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"`),
    Buffer.from(file === undefined ? '' : `; filename="${file}"`),
    Buffer.from(type === undefined ? '' : `\r\nContent-Type: ${type}`),
    Buffer.from('\r\n\r\n'),
    value,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...pieces, Buffer.from(ending)])
}

function scan(body: Buffer, cuts: readonly number[] = []): { fields: FormField[]; wrong: string | null } {
  const scanner = new FormScanner(boundary, ['model', 'stream'])
  let from = 0
  for (const cut of [...cuts, body.length]) {
    const to = Math.max(from, Math.min(cut, body.length))
    scanner.push(body.subarray(from, to))
    from = to
  }
  scanner.end()
  return { fields: scanner.fields, wrong: scanner.wrong }
}

/** The parts of which no field is wanted, as they were told. */
function collect(
  body: Buffer,
  cuts: readonly number[],
): { parts: { name: string; value: Buffer }[]; wrong: string | null } {
  const parts: { name: string; pieces: Buffer[] }[] = []
  const scanner = new FormScanner(boundary, ['model'], {
    begin: ({ name }) => void parts.push({ name, pieces: [] }),
    bytes: (chunk) => void parts.at(-1)?.pieces.push(Buffer.from(chunk)),
  })
  let from = 0
  for (const cut of [...cuts, body.length]) {
    const to = Math.max(from, Math.min(cut, body.length))
    scanner.push(body.subarray(from, to))
    from = to
  }
  scanner.end()
  return { parts: parts.map(({ name, pieces }) => ({ name, value: Buffer.concat(pieces) })), wrong: scanner.wrong }
}

const model: Part = { name: 'model', value: Buffer.from('gpt-image-1') }
const file: Part = { name: 'file', file: 'a.png', type: 'image/png', value: Buffer.from('\x89PNG\r\n--\r\n\r\n--x') }

/** What a file may hold without holding the boundary: pieces of it, line ends, anything. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('\r\n', '\r', '\n', '--', '\r\n--', `\r\n--${boundary.slice(0, -1)}`, '----form-')
        .map((text) => Buffer.from(text)),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => !bytes.includes(`--${boundary}`))

const anyPart: fc.Arbitrary<Part> = fc.oneof(
  content.map((value) => ({ ...file, value })),
  fc
    .string({ maxLength: 30, unit: 'grapheme' })
    .filter((text) => !text.includes('--'))
    .map((text) => ({ name: 'model', value: Buffer.from(text) })),
  fc.constantFrom('true', '').map((text) => ({ name: 'stream', value: Buffer.from(text) })),
  fc.constantFrom('my model', 'models', 'prompt').map((name) => ({ name, value: Buffer.from('other') })),
)

const usual = 'Content-Disposition: form-data; name="model"'

describe('a form', () => {
  it('is read alike however it is cut, and its spans are where the values stand', () => {
    fc.assert(
      fc.property(
        fc.array(anyPart, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(2000), { maxLength: 30 }).map((cuts) => cuts.toSorted((one, other) => one - other)),
        (parts, cuts) => {
          const body = write(parts)
          const found = scan(body, cuts)
          const expected = parts.filter(({ name }) => name === 'model' || name === 'stream')
          expect(found.wrong).toBeNull()
          expect(found.fields.map(({ name, value }) => [name, value])).toEqual(
            expected.map(({ name, value }) => [name, value.toString()]),
          )
          for (const { value, start, end } of found.fields) expect(body.toString('utf8', start, end)).toBe(value)
        },
      ),
      { numRuns: 300 },
    )
  })

  /** What another parser finds; null where it takes the form for none. */
  async function otherReading(body: Buffer): Promise<string[] | null> {
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null)
    return form === null ? null : form.getAll('model').map(String)
  }

  /** A form with something odd put in, or taken out, anywhere. */
  const damaged = fc
    .tuple(
      fc.array(anyPart, { minLength: 1, maxLength: 4 }),
      fc.array(
        fc.tuple(
          fc.nat(10_000),
          fc.constantFrom(0, 0, 0, 1, 2),
          fc.constantFrom(
            '',
            '\r',
            '\n',
            '\r\n',
            '--',
            `--${boundary}`,
            `\n--${boundary}\n`,
            '"',
            ';',
            ' ',
            '; name="model"',
            '; filename="x"',
            usual,
          ),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([parts, changes]) => {
      let body = write(parts)
      for (const [place, gone, text] of changes) {
        // Mostly where the grammar turns.
        const turns = [...body.keys()].filter((index) => '"\n'.includes(String.fromCharCode(body[index]!)))
        const at = place % 5 === 0 || turns.length === 0 ? place % body.length : turns[place % turns.length]! + 1
        body = Buffer.concat([body.subarray(0, at), Buffer.from(text), body.subarray(at + gone)])
      }
      return body
    })

  it('that is taken for one has the model that another parser finds', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(damaged, async (body) => {
        const found = scan(body)
        const other = found.wrong === null ? await otherReading(body) : null
        if (other === null) return
        taken++
        expect(found.fields.filter(({ name }) => name === 'model').map(({ value }) => value)).toEqual(other)
      }),
      { numRuns: 4000 },
    )
    expect(taken).toBeGreaterThan(100)
  })

  it('reads alike byte for byte', () => {
    const body = write([file, model, file])
    const cuts = Array.from(body, (_, index) => index)
    expect(scan(body, cuts)).toEqual(scan(body))
    expect(scan(body).fields).toMatchObject([{ name: 'model', value: 'gpt-image-1' }])
  })

  it('never holds more than a part of it', () => {
    const scanner = new FormScanner(boundary, ['model'])
    const head = write([file], '').subarray(0, -2)
    scanner.push(head)
    for (let chunk = 0; chunk < 1000; chunk++) scanner.push(Buffer.alloc(65_536, '\r\n--'))
    scanner.push(Buffer.concat([Buffer.from('\r\n'), write([model])]))
    scanner.end()
    expect(scanner.wrong).toBeNull()
    const start = head.length + 65_536_000 + 2 + write([model]).indexOf('gpt')
    expect(scanner.fields).toEqual([{ name: 'model', value: 'gpt-image-1', start, end: start + 11 }])
  })
})

const disposition = (line: string, more = '') =>
  Buffer.from(`--${boundary}\r\n${line}\r\n${more}\r\nx\r\n--${boundary}--\r\n`)

describe('what two parsers could read differently is refused:', () => {
  it.each<[string, Buffer]>([
    ['nothing', Buffer.alloc(0)],
    ['no form at all', Buffer.from('{"model":"x"}'.repeat(20))],
    ['text before the first boundary', Buffer.concat([Buffer.from('x\r\n'), write([model])])],
    ['a missing end', write([model], '')],
    ['an end without its dashes', write([model], `--${boundary}\r\n`)],
    ['a part after the end', Buffer.concat([write([model]), write([model])])],
    [
      'a bare line feed before a boundary',
      Buffer.from(write([model, file]).toString('latin1').replaceAll(`\r\n--${boundary}`, `\n--${boundary}`), 'latin1'),
    ],
    ['the boundary within a file', write([{ ...file, value: Buffer.from(`x\n--${boundary}\n${usual}\n\ny`) }])],
    ['a longer boundary', write([{ ...file, value: Buffer.from(`x\r\n--${boundary}x\r\n`) }])],
    ['a padded boundary', Buffer.from(write([model]).toString().replace(`${boundary}\r\n`, `${boundary} \r\n`))],
    ['a part without headers', Buffer.from(`--${boundary}\r\n\r\nx\r\n--${boundary}--`)],
    ['two names', disposition('Content-Disposition: form-data; name="file"; name="model"')],
    ['two dispositions', disposition('Content-Disposition: form-data; name="file"', `${usual}\r\n`)],
    ['an extended name', disposition("Content-Disposition: form-data; name*=utf-8''model")],
    ['an escaped name', disposition('Content-Disposition: form-data; name="mo\\del"')],
    ['a padded name', disposition('Content-Disposition: form-data; name=" model"')],
    ['an encoded name', disposition('Content-Disposition: form-data; name="%6dodel"')],
    ['a name in single quotes', disposition(`Content-Disposition: form-data; name="'model'"`)],
    ['a name in single quotes alone', disposition("Content-Disposition: form-data; name='model'")],
    ['a model in a list', disposition('Content-Disposition: form-data; name="model[]"')],
    ['a model in a map', disposition('Content-Disposition: form-data; name="model[0]"')],
    ['a folded header', disposition('Content-Disposition: form-data;\r\n name="model"')],
    ['a header with a bare line feed', disposition(`X: y\n${usual}`)],
    ['another disposition', disposition('Content-Disposition: attachment; name="model"')],
    ['a model that is a file', disposition(`${usual}; filename="x"`)],
    ['a model in base64', disposition(usual, 'Content-Transfer-Encoding: base64\r\n')],
    ['a model in another alphabet', disposition(usual, 'Content-Type: text/plain; charset=utf-16\r\n')],
    ['headers without end', Buffer.from(`--${boundary}\r\n${'x-a: b\r\n'.repeat(3000)}`)],
    ['a model without end', Buffer.from(`--${boundary}\r\n${usual}\r\n\r\n${'x'.repeat(100_000)}`)],
    ['too many models', write(Array.from({ length: 300 }, () => model))],
  ])('%s', (_name, body) => {
    const whole = scan(body).wrong
    expect(whole).not.toBeNull()
    expect(
      scan(
        body,
        Array.from(body, (_, index) => index),
      ).wrong,
    ).toBe(whole)
  })
})

it.each([
  ['.NET', 'Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=model'],
  ['Java', `${usual}\r\nContent-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: 8bit`],
  ['OkHttp', `${usual}\r\nContent-Length: 1`],
  ['Python', 'content-disposition: form-data; name="model"'],
])('a form as %s writes it is one', (_name, headers) => {
  expect(scan(disposition(headers))).toMatchObject({ wrong: null, fields: [{ name: 'model', value: 'x' }] })
})

describe('a boundary', () => {
  it.each([
    ['multipart/form-data; boundary=abc', 'abc'],
    ['Multipart/Form-Data;charset=utf-8; Boundary="a b"', 'a b'],
    ['multipart/form-data; boundary=a; boundary=b', null],
    ['multipart/form-data; boundary=a, multipart/form-data; boundary=b', null],
    ['multipart/form-data; boundary=""', null],
    ['multipart/form-data', null],
    ['multipart/mixed; boundary=a', null],
    [`multipart/form-data; boundary=${'a'.repeat(71)}`, null],
  ])('of %s', (contentType, expected) => expect(readBoundary(contentType)).toBe(expected))
})

it('tells the content of the other parts, byte for byte, however the form is cut', () => {
  const cuts = fc.array(fc.nat({ max: 2000 }), { maxLength: 12 }).map((list) => list.sort((one, other) => one - other))
  fc.assert(
    fc.property(fc.array(content, { maxLength: 4 }), cuts, fc.boolean(), (contents, at, bytewise) => {
      const parts = contents.flatMap((value) => [{ ...file, value }, model])
      const body = write(parts.length === 0 ? [model] : parts)
      const told = collect(body, bytewise ? Array.from(body, (_, index) => index) : at)
      expect(told.wrong).toBeNull()
      expect(told.parts).toEqual(contents.map((value) => ({ name: 'file', value })))
    }),
  )
})

it('refuses a header of countless blanks at once, and trims those of others', () => {
  const blanks = ' \t'.repeat(7500)
  const part = (end: string) =>
    Buffer.from(
      `--${boundary}\r\ncontent-disposition:${blanks}form-data; name="model"${blanks.slice(16)}${end}\r\n\r\nm\r\n--${boundary}--\r\n`,
    )
  expect(scan(part('\0')).wrong).toBe('the headers of a part are longer than 16384 bytes')
  const short = (end: string) => Buffer.from(part(end).toString().replaceAll(blanks.slice(4000), ''))
  expect(scan(short('\0')).wrong).toBe('a part has no headers that name it')
  expect(scan(short('')).fields).toMatchObject([{ name: 'model', value: 'm' }])
})
