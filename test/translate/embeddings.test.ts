import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { parseObject } from '../../src/core/json/json-value.ts'
import type { openaiEmbeddingFields } from '../../src/translate/embeddings/fields.ts'
import { embeddingCodec, writeEmbeddings } from '../../src/translate/embeddings/index.ts'
import { type GoldenCase, parseGolden, sameJson, showJson, writeGolden } from '../support/translate/golden-case.ts'

const folder = join(import.meta.dirname, '../fixtures/translate-embeddings')
const writes = process.env.SPGW_GOLDEN === 'write'

/** The format of the cases is that of `test/fixtures/translate/README.md`, with the usual format of each lane. */
describe.each(readdirSync(folder).sort())('%s', (file) => {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const golden = parseGolden(text)

  it(golden.title, () => {
    const found = runCase(golden)
    if (writes) {
      const kept = [...golden.sections].filter(([name]) => name.endsWith(' in'))
      const shown = [...kept, ...found].map(([name, section]): [string, string] => [
        name,
        section.startsWith('{') ? showJson(JSON.parse(section)) : section,
      ])
      writeFileSync(path, writeGolden(text, new Map(shown)))
      return
    }
    const expected = [...golden.sections].filter(([name]) => !name.endsWith(' in'))
    expect(comparable(found)).toEqual(comparable(expected))
  })
})

function comparable(sections: Iterable<[string, string]>): Record<string, string> {
  return Object.fromEntries([...sections].map(([name, section]) => [name, sameJson(section.trimEnd())]))
}

function runCase({ from, to, settings, sections }: GoldenCase): Map<string, string> {
  const target = { model: settings.get('model') ?? '', strict: settings.get('strict') === 'yes' }
  const written = writeEmbeddings(Buffer.from(sections.get('request in') ?? ''), { from, to }, target)
  if ('code' in written) return new Map([['refused', `${written.param}\n${written.message}`]])
  const found = new Map([['request out', JSON.stringify(written.body)]])
  if (written.losses.length > 0) found.set('losses', written.losses.join('\n'))
  const answer = parseObject(Buffer.from(sections.get('answer in') ?? ''))
  const reply = answer === null ? null : embeddingCodec(to).readReply(answer)
  if (reply === null) return found
  const context = { model: target.model, inputTokens: 7 }
  return found.set('answer out', JSON.stringify(embeddingCodec(from).writeReply(reply, written.request, context)))
}

describe('a call for vectors', () => {
  const read = (body: object) =>
    writeEmbeddings(Buffer.from(JSON.stringify(body)), { from: 'chat', to: 'generate' }, { model: 'm', strict: false })

  it.each([
    { body: { model: 'm' }, param: 'input' },
    { body: { input: [] }, param: 'input' },
    { body: { input: ['a', ''] }, param: 'input[1]' },
    { body: { input: 'a', encoding_format: 'hex' }, param: 'encoding_format' },
    { body: { input: 'a', dimensions: 0 }, param: 'dimensions' },
  ])('is refused as no provider would take it: $param', ({ body, param }) => {
    expect(read(body)).toMatchObject({ code: 'invalid_request', param })
  })

  it('is read from an answer with a vector that is none: not at all', () => {
    expect(embeddingCodec('chat').readReply({ data: [{ index: 0, embedding: 'AAAA' }] })).toBeNull()
    expect(embeddingCodec('generate').readReply({ embeddings: [] })).toBeNull()
  })

  it('has a row for each member that the SDK knows', () => {
    type Missing = Exclude<keyof OpenAI.EmbeddingCreateParams, keyof typeof openaiEmbeddingFields>
    const missing: Missing[] = []
    expect(missing).toEqual([])
  })
})
