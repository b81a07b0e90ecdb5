import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { checkProvider } from '../../src/providers/check.ts'
import type { OutboundRequest, ProviderTarget, Transport, TransportFault } from '../../src/providers/contract.ts'
import { findKind } from '../../src/providers/index.ts'

type Answer = { status: number; body: unknown } | TransportFault | 'silence'

/** Answers by URL; what is not in the table is 404. Keeps what was asked. */
function fakeNetwork(table: Record<string, Answer>): Transport & { asked: OutboundRequest[]; aborted: number } {
  const network = {
    asked: [] as OutboundRequest[],
    aborted: 0,
    send(request: OutboundRequest, sink: Parameters<Transport['send']>[1]) {
      network.asked.push(request)
      const answer = table[request.origin + request.path] ?? { status: 404, body: { error: { message: 'Not Found' } } }
      let open = true
      queueMicrotask(() => {
        if (answer === 'silence') return
        if ('kind' in answer) return sink.onError(answer)
        sink.onHead(answer.status, ['content-type', 'application/json'])
        sink.onData(Buffer.from(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)))
        if (open) sink.onEnd()
      })
      const abort = () => {
        open = false
        network.aborted++
      }
      return { abort, pause() {}, resume() {} }
    },
  }
  return network
}

function check(
  kindName: string,
  table: Record<string, Answer>,
  more: Partial<ProviderTarget> = {},
  limits = { bytes: 4096, milliseconds: 500 },
  credential: Secret | null = new Secret('sk-under-test'),
) {
  const kind = findKind(kindName)
  if (!kind) throw new Error(kindName)
  const network = fakeNetwork(table)
  const target = { name: 'one', baseUrl: kind.defaultBaseUrl, settings: {}, ...more }
  return { network, result: checkProvider(kind, target, credential, network, limits) }
}

const page = { status: 200, body: '<!doctype html><html>hello</html>' }

describe('checkProvider', () => {
  it('asks for a credential where none was given, and blames one that was', async () => {
    const refusing = { 'http://h/v1/models': { status: 401, body: { error: { message: 'no' } } } }
    const target = { baseUrl: 'http://h/v1' }
    const without = check('openai-compatible', refusing, target, undefined, null)
    expect(await without.result).toMatchObject({
      reason: 'credential_rejected',
      message: expect.stringMatching(/none was given.*--credential-stdin/),
    })
    expect((await check('openai-compatible', refusing, target).result).message).toMatch(/refused the credential/)
  })

  it('lists models with what is known of their limits', async () => {
    const { result, network } = check(
      'openai-compatible',
      {
        'http://h/v1/models': {
          status: 200,
          body: {
            data: [
              { id: 'a', max_model_len: 8192 },
              { id: 'b', context_length: 4096, top_provider: { max_completion_tokens: 512 } },
              {},
            ],
          },
        },
      },
      { baseUrl: 'http://h/v1' },
    )
    expect(await result).toEqual({
      ok: true,
      reason: null,
      message: 'The provider accepted the credential and lists 2 models.',
      models: [
        { name: 'a', contextTokens: 8192, outputTokens: null },
        { name: 'b', contextTokens: 4096, outputTokens: 512 },
      ],
    })
    expect(network.asked[0]?.headers).toContain('Bearer sk-under-test')
    expect(network.asked[0]?.body).toBeNull()
  })

  it('takes a bare array of models', async () => {
    const { result } = check(
      'openai-compatible',
      { 'http://h/v1/models': { status: 200, body: [{ id: 'a' }] } },
      { baseUrl: 'http://h/v1' },
    )
    expect((await result).models.map((model) => model.name)).toEqual(['a'])
  })

  it('asks Anthropic with its version, and reads its limits', async () => {
    const { result, network } = check('anthropic', {
      'https://api.anthropic.com/v1/models?limit=1000': {
        status: 200,
        body: { data: [{ id: 'claude', max_input_tokens: 200000, max_tokens: 64000 }] },
      },
    })
    expect((await result).models).toEqual([{ name: 'claude', contextTokens: 200000, outputTokens: 64000 }])
    expect(network.asked[0]?.headers).toEqual(expect.arrayContaining(['anthropic-version', '2023-06-01', 'x-api-key']))
  })

  it("takes the folder off Gemini's names", async () => {
    const { result } = check('gemini', {
      'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000': {
        status: 200,
        body: { models: [{ name: 'models/gemini-x', inputTokenLimit: 1048576, outputTokenLimit: 65536 }] },
      },
    })
    expect((await result).models).toEqual([{ name: 'gemini-x', contextTokens: 1048576, outputTokens: 65536 }])
  })

  it.each([
    ['openai', 'https://api.openai.com/v1/models', { status: 401, body: { error: { message: 'bad sk-under-test' } } }],
    ['anthropic', 'https://api.anthropic.com/v1/models?limit=1000', { status: 401, body: {} }],
    [
      'gemini',
      'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000',
      { status: 400, body: { error: { details: [{ reason: 'API_KEY_INVALID' }] } } },
    ],
    [
      'gemini',
      'https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000',
      { status: 403, body: { error: { message: 'leaked' } } },
    ],
  ])('%s: says when the credential is refused', async (kind, url, answer) => {
    const result = await check(kind, { [url]: answer }).result
    expect(result).toMatchObject({ ok: false, reason: 'credential_rejected' })
    expect(result.message).not.toContain('sk-under-test')
  })

  it('takes a key that may not list models', async () => {
    const body = {
      error: { message: 'You have insufficient permissions for this operation. Missing scopes: api.model.read.' },
    }
    const result = await check('openai', { 'https://api.openai.com/v1/models': { status: 403, body } }).result
    expect(result).toMatchObject({ ok: true, models: [] })
  })

  it.each([
    ['openai-compatible', 'http://h', 'http://h/v1', '/models'],
    ['openai-compatible', 'http://h/v1/v1', 'http://h/v1', '/models'],
    ['openai-compatible', 'http://h/v1/chat/completions', 'http://h/v1', '/models'],
    ['openai-compatible', 'http://h/v1', 'http://h', '/models'],
    ['anthropic', 'http://h/v1', 'http://h', '/v1/models?limit=1000'],
    ['anthropic', 'http://h/v1/messages', 'http://h', '/v1/models?limit=1000'],
    ['gemini', 'http://h/v1beta', 'http://h', '/v1beta/models?pageSize=1000'],
    ['gemini', 'http://h/v1/', 'http://h', '/v1beta/models?pageSize=1000'],
  ])('%s at %s is told to be at %s', async (kind, given, right, path) => {
    const list = { status: 200, body: { data: [], models: [] } }
    for (const found of [list, { status: 401, body: {} }]) {
      const { result, network } = check(kind, { [right + path]: found }, { baseUrl: given })
      const read = await result
      expect(read).toMatchObject({ ok: false, reason: 'wrong_url' })
      expect(read.message).toContain(`answers at ${right}: make that the base URL`)
      expect(network.asked).toHaveLength(2)
    }
  })

  it('recognises a web page, also one that answers 200', async () => {
    const result = await check('openai-compatible', { 'http://h/models': page }, { baseUrl: 'http://h' }).result
    expect(result).toMatchObject({ ok: false, reason: 'wrong_url' })
    expect(result.message).toContain('web page')
  })

  it('says nothing of another spelling that does not answer either', async () => {
    const { result, network } = check('openai-compatible', {}, { baseUrl: 'http://h' })
    expect((await result).message).toBe('Nothing answers at that path (404); check the base URL.')
    expect(network.asked).toHaveLength(2)
  })

  it.each([
    [{ kind: 'unreachable', message: 'Refused.' } as const, 'unreachable'],
    [{ kind: 'tls', message: 'TLS.' } as const, 'unreachable'],
    ['silence' as const, 'unreachable'],
    [{ status: 429, body: {} }, 'unexpected'],
    [{ status: 500, body: {} }, 'unexpected'],
    [{ status: 402, body: {} }, 'unexpected'],
    [{ status: 301, body: '' }, 'wrong_url'],
    [{ status: 200, body: 'endless'.repeat(600) }, 'unexpected'],
  ])('answer %# is %s', async (answer, reason) => {
    const { result, network } = check(
      'openai',
      { 'https://api.openai.com/v1/models': answer },
      {},
      { bytes: 4096, milliseconds: 20 },
    )
    expect(await result).toMatchObject({ ok: false, reason, models: [] })
    expect(network.aborted).toBe(network.asked.length)
  })

  it('takes a vendor without a list by its preset', async () => {
    const more = { baseUrl: 'https://api.perplexity.ai', settings: { preset: 'perplexity' } }
    expect(await check('openai-compatible', {}, more).result).toMatchObject({ ok: true, models: [] })
  })

  it('needs an address', async () => {
    expect(await check('openai-compatible', {}).result).toMatchObject({ ok: false, reason: 'wrong_url' })
    const list = { status: 200, body: { data: [] } }
    const more = { settings: { preset: 'ollama' } }
    expect(await check('openai-compatible', { 'http://127.0.0.1:11434/v1/models': list }, more).result).toMatchObject({
      ok: true,
    })
    expect(await check('openai-compatible', {}, more).result).toMatchObject({ ok: false, reason: 'wrong_url' })
    expect(await check('openai', {}, { baseUrl: '' }).result).toMatchObject({ ok: false, reason: 'wrong_url' })
    expect(await check('openai', {}, { baseUrl: 'api.openai.com' }).result).toMatchObject({
      ok: false,
      reason: 'wrong_url',
    })
  })

  it('has nothing to ask the demo provider', async () => {
    const { result, network } = check('demo', {})
    expect((await result).models.map((model) => model.name)).toContain('demo')
    expect(network.asked).toEqual([])
  })
})
