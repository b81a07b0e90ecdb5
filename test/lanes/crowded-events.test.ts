import { expect, it, vi } from 'vitest'
import { SseFramer } from '../../src/core/bytes/sse.ts'
import { findLane } from '../../src/lanes/index.ts'

const calls = {
  chat: ['/v1', '/chat/completions', '{"choices":[{"delta":{"content":"a"}}],"usage":VALUE}'],
  responses: ['/v1', '/responses', '{"type":"response.created","response":VALUE}'],
  messages: ['/v1/anthropic', '/v1/messages', '{"type":"message_start","message":{"usage":VALUE}}'],
  generate: ['/v1/gemini', '/v1beta/models/m:streamGenerateContent', '{"candidates":[],"usageMetadata":VALUE}'],
} as const

it.each(Object.keys(calls) as (keyof typeof calls)[])('passes an event of too many values unread: %s', (name) => {
  const [base, path, json] = calls[name]
  const match = findLane(`${base}${path}`)?.match('POST', path)
  if (match == null) throw new Error('no endpoint')
  const reader = match.endpoint.reader({ streamed: true, model: 'm' } as never, {} as never)
  for (const value of [`${'['.repeat(400_000)}${']'.repeat(400_000)}`, `[${'1,'.repeat(400_000)}1]`]) {
    const bytes = Buffer.from(`data: ${json.replace('VALUE', value)}\n\n`)
    const [event] = new SseFramer().push(bytes)
    const parse = vi.spyOn(JSON, 'parse')
    const reading = event && reader.event(event)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    expect(reading).toMatchObject({ content: true, terminal: false, error: null })
    expect(reading?.pass?.equals(bytes)).toBe(true)
  }
})
