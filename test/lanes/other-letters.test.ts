import { describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { findLane } from '../../src/lanes/index.ts'
import { lineReaders } from '../../src/lanes/line-readers.ts'
import { isFault } from '../../src/lanes/request-body.ts'

function find(call: string) {
  const [method = '', path = ''] = call.split(' ')
  const lane = findLane(path)!
  const match = lane.match(method, path.slice(lane.prefix.length))!
  return { lane, match }
}

const generate = 'POST /v1/gemini/v1beta/models/g:generateContent'
const batch = 'POST /v1/gemini/v1beta/models/g:batchGenerateContent'

describe('a reference in other letters', () => {
  it.each([
    [generate, '{"CachedContent":"c"}', 'cached_content cachedContents/c'],
    [generate, '{"contents":[{"parts":[{"FileData":{"FILEURI":"files/f"}}]}]}', 'file files/f'],
    [
      generate,
      '{"tools":[{"file\u017fearch":{"file\u017fearchStoreNames":["s"]}}]}',
      'file_search_store fileSearchStores/s',
    ],
    [generate, '{"contents":[{"parts":[{"Args":{"fileUri":"files/f"}}]}]}', 'file files/f'],
    [batch, '{"batch":{"inputConfig":{"FILE_NAME":"files/f"}}}', 'file files/f'],
    ['POST /v1/gemini/v1beta/interactions', '{"Previous_Interaction_ID":"i"}', 'interaction i'],
  ])('of %s %s', (call, body, expected) => {
    const { match } = find(call)
    const found = match.endpoint.references('', Buffer.from(body))
    expect('code' in found ? [] : found.map(({ type, id }) => `${type} ${id}`)).toEqual([expected])
  })
})

describe('a name that decides', () => {
  const session = 'POST /v1/realtime/client_secrets'
  it.each([
    ['POST /v1/anthropic/v1/messages/batches', '{"requests":[{"params":{"model":"a","Model":"b"}}]}', 'model'],
    ['POST /v1/anthropic/v1/messages/batches', '{"requests":[{"Params":{"model":"b"}}]}', 'params'],
    ['POST /v1/anthropic/v1/messages/batches', '{"Requests":[{"params":{"model":"b"}}]}', 'requests'],
    ['POST /v1/gemini/v1beta/models/g:batchEmbedContents', '{"requests":[{"Model":"models/b"}]}', 'model'],
    [
      'POST /v1/gemini/v1beta/models/g:countTokens',
      '{"GenerateContentRequest":{"model":"b"}}',
      'generateContentRequest',
    ],
    [batch, '{"batch":{"inputConfig":{"Requests":{"requests":[{"request":{"model":"b"}}]}}}}', 'requests'],
    [
      'POST /v1/chat/completions',
      '{"model":"m","stream":true,"stream_options":{"Include_Usage":false}}',
      'include_usage',
    ],
    [generate, '{"GenerationConfig":{}}', 'generationConfig'],
    ['POST /v1/gemini/v1beta/auth_tokens', '{"bidiGenerateContentSetup":{"Model":"models/b"}}', 'model'],
    [session, '{"session":{"model":"a","Model":"b"}}', 'model'],
    [session, '{"session":{"model":"a","audio":{"Input":{"transcription":{"model":"b"}}}}}', 'input'],
    [session, '{"model":"a","\u017fession":{"model":"b"}}', 'session'],
  ])('is refused in other letters: %s %s', (call, body, param) => {
    const { match } = find(call)
    const found = match.endpoint.inspect(match, '', Buffer.from(body))
    expect(found).toMatchObject({ code: 'invalid_request', param })
    expect(isFault(found) && found.message).toContain(`must be written \`${param}\``)
  })

  it.each([
    ['openai', '{"url":"/v1/responses","Body":{},"body":{"model":"m"}}'],
    ['openai', '{"url":"/v1/responses","body":{"model":"m","MODEL":"n"}}'],
    ['gemini', '{"request":{},"Model":"n"}'],
    ['gemini', '{"request":{"Model":"n"}}'],
  ])('is refused in a line of a batch’s file: %s %s', (lane, line) => {
    const readLine = lineReaders[lane as LaneName]!
    expect(readLine(Buffer.from(line))).toContain('must be written')
  })

  it.each([
    'Model=b&model=a',
    'model=a&deployment=b',
    'model=a&model[]=b',
    'intent=transcription&MODEL=b',
    'call_id=c&%6Dodel%20=b',
  ])('is refused in the query of a handshake: %s', (query) => {
    const { match } = find('SOCKET /v1/realtime')
    expect(match.endpoint.socket!.handshake(match, `?${query}`, null)).toMatchObject({
      code: 'invalid_request',
      param: 'model',
    })
  })

  it.each([
    ['/v1/realtime', '{"type":"session.update","session":{"Model":"b"}}', 'model'],
    ['/v1/realtime', '{"Type":"session.update"}', 'type'],
    ['/v1/responses', '{"type":"response.create","MODEL":"b"}', 'model'],
    [
      '/v1/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
      '{"Setup":{}}',
      'setup',
    ],
    [
      '/v1/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
      '{"setup":{"model":"models/a","Model":"models/b"}}',
      'model',
    ],
  ])('is refused in a frame of %s: %s', (path, frame, param) => {
    const { match } = find(`SOCKET ${path}`)
    expect(match.endpoint.socket!.ask(Buffer.from(frame))).toMatchObject({ code: 'invalid_request', param })
  })
})
