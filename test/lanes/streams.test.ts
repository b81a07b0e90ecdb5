import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { UsageConvention } from '../../src/core/record.ts'
import { openFramer } from '../../src/lanes/framer.ts'
import { makeOpenaiCompatible } from '../../src/providers/openai-compatible.ts'
import { presets } from '../../src/providers/presets.ts'
import { frame } from '../support/framing.ts'
import { openReader } from '../support/open-reader.ts'

interface Expectation {
  content: number | null
  terminal: number[]
  usage: unknown
  end: string | null
  model: string | null
  id: string | null
  error?: { status: number | null; message: string }
  sequence?: number | null
  framing?: string
}

const folder = new URL('../fixtures/lanes/', import.meta.url)

/** What the vendor's usage leaves out, as its preset says. */
function conventionOf(preset: string): UsageConvention | undefined {
  return makeOpenaiCompatible(presets).usageConvention?.({ name: 'p', baseUrl: '', settings: { preset } })
}

function readCase(file: string) {
  const text = readFileSync(new URL(file, folder), 'utf8')
  const [, head = '', input = '', output = '', expectation = ''] =
    /^(.*?)--- in\n(.*)--- out\n(.*)--- expect\n(.*)$/s.exec(text) ?? []
  const setting = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1] ?? ''
  const ends = (part: string) => Buffer.from(setting('ends') === 'crlf' ? part.replaceAll('\n', '\r\n') : part)
  return {
    call: setting('call'),
    convention: conventionOf(setting('preset')),
    body: Buffer.from(setting('body')),
    input: ends(input),
    output: output === 'same\n' ? ends(input) : ends(output),
    expected: JSON.parse(expectation) as Expectation,
  }
}

const files = readdirSync(folder).filter((file) => file.endsWith('.txt'))

describe.each(files)('%s', (file) => {
  const { call, convention, body, input, output, expected } = readCase(file)
  const { inspection } = openReader(call, body, { askForUsage: true, convention })

  if (inspection.framing === null) {
    it('reads the whole answer', () => {
      const { reader } = openReader(call, body, { askForUsage: true, convention })
      expect(reader.body(input)).toEqual({ wrong: null })
      const { model, responseId } = reader.seen()
      expect({ usage: reader.usage(), model, id: responseId }).toEqual(expected)
    })
    return
  }

  it.each([[[1 << 20]], [[1]], [[7, 2, 11]]])('reads and hands on, fed in pieces of %j', (sizes) => {
    const { inspection, reader } = openReader(call, body, { askForUsage: true, convention })
    if (inspection.framing === null) throw new Error('not streamed')
    const readings = frame(openFramer(inspection.framing), input, sizes).map((event) => reader.event(event))
    const passed = Buffer.concat(readings.map((reading) => reading.pass ?? Buffer.alloc(0)))
    const errors = readings.flatMap(({ error }) => (error === null ? [] : [error]))
    const indexes = (wanted: (reading: (typeof readings)[number]) => boolean) =>
      readings.flatMap((reading, index) => (wanted(reading) ? [index] : []))
    const seen = reader.seen()

    expect(passed.toString()).toBe(output.toString())
    expect({
      content: indexes(({ content }) => content)[0] ?? null,
      terminal: indexes(({ terminal }) => terminal),
      usage: reader.usage(),
      end: reader.end(),
      model: seen.model,
      id: seen.responseId,
      ...(expected.sequence === undefined ? {} : { sequence: seen.sequenceNumber }),
      ...(expected.framing === undefined ? {} : { framing: seen.framing }),
    }).toEqual({ ...expected, error: undefined })
    expect(errors.map(({ status, message }) => ({ status, message }))).toEqual(expected.error ? [expected.error] : [])
    for (const error of errors) expect(error).toMatchObject({ code: 'provider_error', origin: 'provider' })
  })
})
