import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { optionalText, readJsonBody, textField } from '../../src/console/read-body.ts'
import { SignInRefused } from '../../src/sign-in/refusal.ts'

/** The body as it arrives, piece by piece. */
const read = (...pieces: (string | Buffer)[]) =>
  readJsonBody(Readable.from(pieces.map((piece) => Buffer.from(piece))) as unknown as IncomingMessage)

const mostBytes = 64 * 1024
const ofSize = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`

describe('a body of sign-in', () => {
  it('is a JSON object, however it arrives, and nothing where nothing came', async () => {
    const bytes = Buffer.from('{"name":"ä"}')
    expect(await read(...Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual({ name: 'ä' })
    expect(await read()).toEqual({})
  })

  it.each(['[]', 'null', '"a"', '7'])('that is %s is refused', async (text) => {
    await expect(read(text)).rejects.toThrow('The body is not a JSON object.')
  })

  it('that is no JSON is refused without being shown', async () => {
    await expect(read('{"password":"canary')).rejects.toThrow(/^The body is not JSON\.$/)
  })

  it('is refused from the first byte on that is too many, before its end came', async () => {
    expect(await read(ofSize(mostBytes))).toHaveProperty('a')
    await expect(read(ofSize(mostBytes + 1))).rejects.toThrow('The body is too large.')
    let taken = 0
    const endless = Readable.from(
      (function* () {
        for (;;) yield Buffer.alloc(1024, ++taken)
      })(),
    )
    await expect(readJsonBody(endless as unknown as IncomingMessage)).rejects.toThrow(SignInRefused)
    expect(taken).toBeLessThan(200)
  })

  it('whose client disconnects is no fault of the client', async () => {
    const cut = new Readable({ read() {} })
    cut.push('{"a":')
    cut.destroy(new Error('aborted'))
    await expect(readJsonBody(cut as unknown as IncomingMessage)).rejects.toMatchObject({ name: 'ClientDisconnected' })
  })
})

describe('a field of a body', () => {
  it.each([[undefined], [null], ['']])('that is %j is missing', (value) => {
    expect(optionalText({ name: value }, 'name')).toBeNull()
    expect(() => textField({ name: value }, 'name')).toThrow('name is missing.')
  })

  it.each([[7], [true], [['a']], [{}]])('is text, and not %j', (value) => {
    expect(() => optionalText({ name: value }, 'name')).toThrow('name must be text.')
  })

  it('has a length that it may have, to the character', () => {
    expect(textField({ name: 'abc' }, 'name', 3)).toBe('abc')
    expect(() => textField({ name: 'abcd' }, 'name', 3)).toThrow('name is too long.')
    expect(textField({ name: 'x'.repeat(1024) }, 'name')).toHaveLength(1024)
    expect(() => textField({ name: 'x'.repeat(1025) }, 'name')).toThrow('name is too long.')
  })
})
