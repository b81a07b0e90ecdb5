import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { firstSnippets } from '../../../src/console/app/areas/first-run/first-snippets.ts'
import { curlLike, curlOfCaptured } from '../../../src/console/app/areas/requests/curl.ts'
import { shellQuote } from '../../../src/console/app/areas/shell-quote.ts'
import { hasProgram } from '../../support/executable.ts'
import { listenOnPort } from '../../support/listen.ts'
import { sampleRecord } from '../../support/sample-record.ts'

/** What a shell gives `curl` as its arguments, with `$SPGW_KEY` set. */
function argumentsOf(command: string): string[] {
  const printing = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${command}`
  const output = execFileSync('sh', ['-c', printing], { env: { SPGW_KEY: 'sp_live_test' }, encoding: 'utf8' })
  return output.split('\0').slice(0, -1)
}

const argumentOf = (flag: string, words: readonly string[]) => words[words.indexOf(flag) + 1] ?? ''
const url = 'http://127.0.0.1:8787'

/** Clients choose models and bodies: quotes, variables, commands, line breaks. */
const hostile = ["it's", '$(touch hurt)', '`id`', '"; id; "', "a\\'b", '$HOME', 'x\ny', '-d', '*', '']
const anyText = fc.oneof(
  fc.constantFrom(...hostile),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '$', '`', '(', ')', ' ', '\n', ';', '!', 'a', 'é') }),
)

describe('a word for the shell', () => {
  it('is one word, and nothing in it is run', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(argumentsOf(`curl ${shellQuote(text)} end`)).toEqual([text, 'end'])
      }),
      { numRuns: 60 },
    )
  })

  it('stays as it is where that is safe', () => {
    expect(shellQuote('gpt-4o-mini')).toBe('gpt-4o-mini')
    expect(shellQuote('gpt-4o*')).toBe("'gpt-4o*'")
  })
})

describe('a request as a curl command', () => {
  it('sends the captured body as it was, with the key from the environment', () => {
    fc.assert(
      fc.property(anyText, (content) => {
        const captured = {
          method: 'POST',
          path: '/v1/chat/completions',
          headers: { 'x-odd': "it's $(id)" },
          content,
          type: 'application/json',
          bytes: content.length,
          truncated: false,
          masked: false,
        }
        const words = argumentsOf(curlOfCaptured(captured, true, url) ?? '')
        expect(words.slice(0, 4)).toEqual(['-sgN', '-X', 'POST', `${url}/v1/chat/completions`])
        expect(argumentOf('--data-raw', words)).toBe(content)
        expect(words).toContain('Authorization: Bearer sp_live_test')
        expect(words).toContain("x-odd: it's $(id)")
      }),
      { numRuns: 40 },
    )
  })

  it.skipIf(!hasProgram('curl'))('reads no file that a client names, and is one call (needs curl)', async () => {
    const seen: string[] = []
    const server = http.createServer(async (request, response) => {
      seen.push(`${request.method} ${request.url} ${Buffer.concat(await request.toArray())}`)
      response.end()
    })
    onTestFinished(() => void server.close())
    const port = await listenOnPort(server)
    const path = '/v1/files/[1-3]?x={a,b}'
    const captured = {
      method: 'POST',
      path,
      headers: {},
      content: '@/etc/passwd',
      type: null,
      bytes: 12,
      masked: false,
    }
    const command = curlOfCaptured({ ...captured, truncated: false }, false, `http://127.0.0.1:${port}`) ?? ''
    await once(spawn('sh', ['-c', command], { stdio: 'ignore' }), 'close')
    expect(seen).toEqual([`POST ${path} @/etc/passwd`])
  })

  it('is not offered where the body is not whole', () => {
    const captured = { method: 'POST', path: '/v1/x', headers: {}, content: '{', type: null, bytes: 9, masked: false }
    expect(curlOfCaptured({ ...captured, truncated: true }, false, url)).toBeNull()
    expect(curlOfCaptured({ ...captured, content: null, truncated: false }, false, url)).toBeNull()
  })

  it.each([
    ['openai', 'chat', true, '/v1/chat/completions', { stream: true }],
    ['openai', 'responses', false, '/v1/responses', { input: 'hello' }],
    ['openai', 'embeddings', false, '/v1/embeddings', { input: 'hello' }],
    ['anthropic', 'messages', false, '/v1/anthropic/v1/messages', { messages: [{ role: 'user', content: 'hello' }] }],
  ] as const)('is like a request of %s %s', (lane, operation, streamed, path, body) => {
    for (const model of ["it's", 'gpt-4o-mini']) {
      const words = argumentsOf(curlLike({ ...sampleRecord(), lane, operation, streamed, model }, url) ?? '')
      expect(words).toContain(`${url}${path}`)
      expect(words[0]).toBe(streamed ? '-sN' : '-s')
      expect(JSON.parse(argumentOf('-d', words))).toMatchObject({ model, ...body })
    }
  })

  it('is not offered where a record does not say enough', () => {
    expect(curlLike({ ...sampleRecord(), operation: 'files.create' }, url)).toBeNull()
    expect(curlLike({ ...sampleRecord(), operation: 'chat', model: null }, url)).toBeNull()
    expect(curlLike({ ...sampleRecord(), lane: 'gemini', operation: 'embeddings' }, url)).toBeNull()
  })
})

describe('the first request', () => {
  it.each(['demo', 'it\'s "odd"'])('asks for %s in each language', (model) => {
    const snippets = firstSnippets(url, model, 'sp_live_key')
    expect(snippets.map(({ title }) => title)).toEqual(['curl', 'JavaScript', 'Python'])
    for (const { code } of snippets) expect(code).toContain('sp_live_key')
    const words = argumentsOf(snippets[0]?.code ?? '')
    expect(JSON.parse(argumentOf('-d', words))).toMatchObject({ model })
  })

  it('takes the key from the environment where it is no longer known', () => {
    for (const { title, code } of firstSnippets(url, 'demo', '$SPGW_KEY')) {
      expect(code, title).toContain('SPGW_KEY')
      if (title !== 'curl') expect(code, title).not.toContain('$SPGW_KEY')
    }
  })
})
