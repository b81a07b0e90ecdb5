import { describe, expect, it } from 'vitest'
import { scanObject } from '../../src/core/json/json-scan.ts'
import { holdsTooMuch, readTree, walkMembers } from '../../src/lanes/json-tree.ts'
import { countedBytes, stepsOf, type Work } from '../support/counted-bytes.ts'

const wanted = ['model', 'stream', 'max_tokens', 'user']

/** Objects of about `size` bytes, each made so that some step costs much. */
const shapes: Record<string, (size: number) => string> = {
  'keys beyond ASCII': (size) => members('"é0":1,', size),
  'escaped keys': (size) => members('"\\u0061":1,', size),
  'keys as long as a wanted one, beyond ASCII': (size) => members('"modé":1,', size),
  'long keys beyond ASCII': (size) => members(`"${'é'.repeat(3000)}":1,`, size),
  'long escaped keys': (size) => members(`"${'\\u006d'.repeat(1000)}":1,`, size),
  'one key of escaped quotes': (size) => `{"${'\\"'.repeat(size / 2)}":1}`,
  'one text of escaped quotes': (size) => `{"a":"${'\\"'.repeat(size / 2)}"}`,
  'one text of backslashes': (size) => `{"a":"${'\\\\'.repeat(size / 2)}"}`,
  'texts of escaped quotes': (size) => `{"a":[${`"${'\\"'.repeat(1000)}",`.repeat(size / 2003)}1]}`,
  'escaped ids': (size) => `{"a":[${`"${'\\u0061'.repeat(1000)}",`.repeat(size / 6003)}1]}`,
  spaces: (size) => `{"a":[${' '.repeat(size)}1]}`,
  'a long number': (size) => `{"a":${'1'.repeat(Math.min(size, 60_000))}}`,
}

function members(one: string, size: number): string {
  return `{${one.repeat(size / one.length)}"a":1}`
}

function workOf(json: string, act: (bytes: Buffer) => unknown): Work {
  const { bytes, work } = countedBytes(Buffer.from(json))
  act(bytes)
  return work
}

const scan = (bytes: Buffer) => scanObject(bytes, wanted, undefined, null, true)
const acts: Record<string, (bytes: Buffer) => unknown> = {
  'a scan': scan,
  'a look for references': readTree,
  'a walk through all members': (bytes) => walkMembers(bytes, { enter: () => true, text: () => {} }),
  'a count of values': holdsTooMuch,
}

describe.each(Object.keys(shapes))('%s', (shape) => {
  it.each(Object.keys(acts))('cost %s a few steps a byte, however many they are', (act) => {
    const size = 30_000
    const [once, twice] = [size, 2 * size].map((each) => stepsOf(workOf(shapes[shape]!(each), acts[act]!)))
    expect(twice).toBeLessThan(8 * 2 * size)
    expect(twice).toBeLessThan(2.5 * once! + 1000)
  })
})

it('decodes no key to find that it is not wanted', () => {
  for (const [shape, make] of Object.entries(shapes))
    expect([shape, workOf(make(100_000), scan).decodes]).toEqual([shape, 0])
})

it('makes no text of what nobody asks for', () => {
  const work = workOf(`{"a":[${'"\\u0061bc",'.repeat(10_000)}1],"file_id":"f"}`, (bytes) =>
    walkMembers(bytes, { enter: () => true, text: (name, text) => name === 'file_id' && text.read() }),
  )
  expect(work.decodes).toBeLessThan(5)
})

it('stops a walk that reads more text than any body has', () => {
  const json = `{"a":[${`"${'\\u0061'.repeat(2000)}",`.repeat(3000)}1]}`
  const { bytes, work } = countedBytes(Buffer.from(json))
  expect(walkMembers(bytes, { enter: () => true, text: (_, text) => text.read() })).toMatchObject({
    code: 'invalid_request',
  })
  expect(work.decoded).toBeLessThan(40_000_000)
})

describe('an object of more members than are looked through', () => {
  it.each([
    ['plain', '"a":1,'],
    ['escaped', '"\\u0061":1,'],
    ['beyond ASCII', '"é":1,'],
    ['odd', '"Model":1,'],
    ['long', `"${'a'.repeat(1000)}":1,`],
  ])('is refused where the bound is, however many follow: %s keys', (_, one) => {
    const [once, twice] = [5, 10].map((megabytes) => scan(Buffer.from(members(one, megabytes * 1_000_000))))
    expect(once).toMatchObject({ ok: false, tooMany: true })
    expect(twice).toEqual(once)
  })

  it('is told from one that has not', () => {
    expect(scan(Buffer.from(`{${'"a":1,'.repeat(190_000)}"a":1}`))).toMatchObject({ ok: true })
    expect(scan(Buffer.from(`{"${'a'.repeat(4_000_000)}":1}`))).toMatchObject({ ok: true })
    expect(scan(Buffer.from(`{"${'a'.repeat(5_000_000)}":1}`))).toMatchObject({ ok: false, at: 1, tooMany: true })
  })
})
