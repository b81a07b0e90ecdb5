import { describe, expect, it } from 'vitest'
import { gemini } from '../../src/lanes/gemini/lane.ts'

function inspect(verb: string, query: string, body = '{}') {
  const match = gemini.match('POST', `/v1beta/models/g:${verb}`)
  if (match === null) throw new Error(`no endpoint for ${verb}`)
  return match.endpoint.inspect(match, query, Buffer.from(body))
}

describe('the form of an answer on the Gemini lane', () => {
  it.each([
    ['generateContent', ''],
    ['generateContent', '?alt=json&prettyPrint=false'],
    ['streamGenerateContent', '?alt=sse'],
    ['streamGenerateContent', '?$alt=json'],
    ['streamGenerateContent', '?alt=sse&$alt=sse'],
  ])('%s%s is read', (verb, query) => expect(inspect(verb, query)).toMatchObject({ model: 'g' }))

  it.each([
    ['generateContent', '?alt=proto'],
    ['generateContent', '?%61lt=media'],
    ['generateContent', '?alt=sse'],
    ['streamGenerateContent', '?alt=sse&alt=json'],
    ['streamGenerateContent', '?alt=sse&$alt=proto'],
    ['generateContent', '?fields=candidates'],
    ['streamGenerateContent', '?alt=sse&$fields=candidates'],
    ['generateContent', '?callback=x'],
  ])('%s%s is refused: it would look broken, or hide its usage', (verb, query) =>
    expect(inspect(verb, query)).toMatchObject({ code: 'invalid_request' }),
  )
})

describe('a second model in the body', () => {
  it.each<[verb: string, body: string]>([
    ['batchEmbedContents', '{"requests":[{"model":"models/g"},{"model":"models/other"}]}'],
    ['batchEmbedContents', '{"requests":[{"model":"models/g","mod\\u0065l":"other"}]}'],
    ['countTokens', '{"generateContentRequest":{"model":"tunedModels/g"}}'],
    ['generateContent', '{"model":"models/other"}'],
    ['streamGenerateContent', '{"model":"other","contents":[]}'],
    ['countTokens', '{"model":"models/other"}'],
    ['embedContent', '{"model":"models/other"}'],
    ['batchEmbedContents', '{"model":"models/other","requests":[]}'],
    ['predict', '{"model":"models/other"}'],
    ['generateContent', '{"model":"models/g","model":"other"}'],
    ['batchGenerateContent', '{"model":"models/other","batch":{}}'],
  ])('%s %s is refused', (verb, body) =>
    expect(inspect(verb, '', body)).toMatchObject({ code: 'invalid_request', param: 'model' }),
  )

  it.each(['"models/g"', '"g"', 'null', '7'])('%s is not another one', (model) => {
    expect(inspect('batchEmbedContents', '', `{"requests":[{"model":${model}}]}`)).toMatchObject({ model: 'g' })
    expect(inspect('generateContent', '', `{"model":${model}}`)).toMatchObject({ model: 'g' })
  })
})
