import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { ORPCError } from '@orpc/client'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientNames } from '../../cli/clients/client-names.ts'
import { clients } from '../../cli/clients/clients.ts'
import { connectCommand } from '../../cli/clients/command.ts'
import { setJson, setToml, setVariables } from '../../cli/clients/edits.ts'
import { diffLines } from '../../cli/clients/line-diff.ts'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { type RunOptions, runLine } from './run-line.ts'

const key = mintGatewayKey()
const url = 'http://127.0.0.1:8787'
const path = 'settings.json'

describe('edits', () => {
  it('of JSON set what they name, take away what is null, and keep the rest in its order and indent', () => {
    const before = '{\n    "theme": "dark",\n    "env": { "OTHER": "1", "GONE": "x" },\n    "hooks": [1]\n}\n'
    const after = setJson({ 'env.URL': url, 'env.GONE': null, 'none.there': null })(before, path)
    expect(JSON.parse(after)).toEqual({ theme: 'dark', env: { OTHER: '1', URL: url }, hooks: [1] })
    expect(Object.keys(JSON.parse(after))).toEqual(['theme', 'env', 'hooks'])
    expect(after).toContain('\n    "theme"')
  })

  it.each([['// a comment\n{}'], ['[]'], ['{'], ['"text"']])('of %j are refused, not guessed at', (text) => {
    expect(() => setJson({ a: 'b' })(text, path)).toThrow('is not plain JSON')
  })

  it('of variables replace in place, keep export and comments, and append what is new', () => {
    const before = '# mine\nexport A=1\nB=2\n'
    expect(setVariables({ A: 'x', C: 'y' })(before, path)).toBe('# mine\nexport A=x\nB=2\nC=y\n')
    expect(setVariables({ A: 'x' })(null, path)).toBe('A=x\n')
  })

  it('of TOML leave other tables, comments and the same name within a table alone', () => {
    const before =
      '# mine\nmodel = "old"\n\n[profiles.a]\nmodel_provider = "other"\n\n[model_providers.spgw]\nstale = "1"\n\n[last]\nx = 1\n'
    const change = setToml({
      top: { model: 'new', model_provider: 'spgw' },
      table: { name: 'model_providers.spgw', values: { base_url: url } },
    })
    const after = change(before, path)
    expect(after).toBe(
      `model_provider = "spgw"\n# mine\nmodel = "new"\n\n[profiles.a]\nmodel_provider = "other"\n\n[model_providers.spgw]\nbase_url = "${url}"\n\n[last]\nx = 1\n`,
    )
    expect(change(after, path)).toBe(after)
    expect(change(null, path)).toContain('\n[model_providers.spgw]\n')
  })

  it('made twice change nothing the second time', () => {
    const line = fc.stringMatching(/^[A-Z#a-z=" ]{0,20}$/)
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const text = `${lines.join('\n')}\n`
        for (const edit of [
          setVariables({ KEY: 'v' }),
          setToml({ top: { model: 'm' }, table: { name: 't', values: { a: 'b' } } }),
        ]) {
          const once = edit(text, path)
          expect(edit(once, path)).toBe(once)
        }
      }),
    )
  })
})

describe('a difference', () => {
  it('tells one text from the other', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c')), fc.array(fc.constantFrom('a', 'b', 'c')), (old, fresh) => {
        fc.pre(old.join() !== fresh.join())
        const lines = diffLines(old.join('\n'), fresh.join('\n'), 1000)
        const without = (sign: string) => lines.filter((line) => line[0] !== sign).map((line) => line.slice(2))
        expect(without('+').join('')).toBe(old.join(''))
        expect(without('-').join('')).toBe(fresh.join(''))
      }),
    )
    expect(diffLines('a\nb\nc\nd\ne\n', 'a\nb\nC\nd\ne\n', 1)).toEqual(['  b', '- c', '+ C', '  d'])
  })
})

describe('connect', () => {
  function home(): string {
    const directory = mkdtempSync(join(tmpdir(), 'home-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    return directory
  }

  const gateway = {
    status: () => ({ gateway_url: url }),
    'keys.create': ({ name }: Record<string, unknown>) => ({ name, key }),
    'keys.list': () => [
      { id: 'key_1', last_four: key.slice(-4), state: 'active', project: 'search', environment: 'staging' },
    ],
    'keys.models': () => [
      { model: 'demo', kind: 'demo', context_tokens: 128_000, output_tokens: 16_384 },
      { model: 'demo-slow', kind: 'demo', context_tokens: null, output_tokens: null },
    ],
    'routes.explain': () => ({ taken: [] as unknown[] }),
  }
  const connect = (argv: readonly string[], place: string, more: RunOptions = {}) =>
    runLine(['connect', ...argv], {
      local: [connectCommand],
      gateway,
      here: place,
      environment: { HOME: place, KEY: key },
      ...more,
    })

  it('prints what belongs where, and touches nothing', async () => {
    const place = home()
    const { status, io, calls } = await connect(['openai-env', '--key-env', 'KEY'], place)
    expect([status, io.out()]).toEqual([0, `export OPENAI_BASE_URL=${url}/v1\nexport OPENAI_API_KEY=${key}\n`])
    expect(calls.map(([name]) => name)).toEqual(['status'])
    const claude = await connect(['claude-code', '--url', 'https://gw.example.com/'], place)
    expect(claude.io.out()).toContain('"ANTHROPIC_BASE_URL": "https://gw.example.com/v1/anthropic"')
    expect(claude.connected).toEqual([])
    const document = await connect(['openai-env', '--key-env', 'KEY', '--json'], place)
    expect(JSON.parse(document.io.out())).toEqual([
      { path: join(place, '.env'), text: `OPENAI_BASE_URL=${url}/v1\nOPENAI_API_KEY=${key}\n` },
    ])
    expect(readdirSync(place)).toEqual([])
  })

  it('makes a key where the environment says', async () => {
    const place = home()
    const environment = { HOME: place, SPGW_PROJECT: 'search', SPGW_ENVIRONMENT: 'staging' }
    const { calls } = await connect(['openai-env', '--create-key', 'laptop'], place, { environment })
    expect(calls.find(([name]) => name === 'keys.create')?.[1]).toEqual({
      name: 'laptop',
      project: 'search',
      environment: 'staging',
    })
  })

  it('says how to go on with a key that a call without --write has made', async () => {
    const taken = new ORPCError('conflict', {
      status: 409,
      message: 'The key laptop already exists.',
      data: { hint: '' },
    })
    const place = home()
    const { status, io } = await connect(['claude-code', '--create-key', 'laptop', '--write', '-p', 'search'], place, {
      gateway: { ...gateway, 'keys.create': () => Promise.reject(taken) },
    })
    expect(status).toBe(5)
    expect(io.err()).toContain(
      'KEY=$(spgw keys rotate laptop --project search) spgw connect claude-code --key-env KEY --write\n',
    )
    expect(readdirSync(place)).toEqual([])
  })

  it('writes with a backup, shows the change without the key, and says so the second time', async () => {
    const place = home()
    const file = join(place, '.claude/settings.json')
    mkdirSync(join(place, '.claude'))
    writeFileSync(file, '{"theme":"dark","env":{"ANTHROPIC_API_KEY":"sk-ant-0123456789abcdef"}}', { mode: 0o644 })
    const first = await connect(['claude-code', '--key-env', 'KEY', '--write'], place)
    expect(first.status).toBe(0)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      theme: 'dark',
      env: {
        // Empty, not absent: an exported one would be sent as well.
        ANTHROPIC_API_KEY: '',
        ANTHROPIC_BASE_URL: `${url}/v1/anthropic`,
        ANTHROPIC_AUTH_TOKEN: key,
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1',
      },
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(first.io.err()).toContain(`sp_live_…${key.slice(-4)}`)
    expect(first.io.err()).not.toContain(key)
    expect(first.io.err()).not.toContain('sk-ant-0123456789abcdef')
    const kept = readdirSync(join(place, '.claude')).find((name) => name.endsWith('.bak'))
    expect(readFileSync(join(place, '.claude', kept ?? ''), 'utf8')).toContain('sk-ant-0123456789abcdef')
    expect((await connect(['claude-code', '--key-env', 'KEY', '--write'], place)).io.err()).toBe('Nothing to change.\n')
  })

  it('writes through a link, into the file that it leads to', async () => {
    const place = home()
    writeFileSync(join(place, 'kept-elsewhere'), 'A=1\n')
    symlinkSync('kept-elsewhere', join(place, '.env'))
    await connect(['openai-env', '--key-env', 'KEY', '--write'], place)
    expect(readFileSync(join(place, 'kept-elsewhere'), 'utf8')).toContain('A=1\nOPENAI_BASE_URL')
  })

  it('makes a key only once it is certain that it will be used', async () => {
    const place = home()
    const argv = ['codex', '--create-key', 'laptop', '--write']
    const declined = await connect(argv, place, { terminal: true, answers: [false] })
    expect([declined.status, declined.calls.map(([name]) => name)]).toEqual([1, ['status']])
    const agreed = await connect(argv, place, { terminal: true, answers: [true] })
    expect(agreed.calls).toContainEqual(['keys.create', { name: 'laptop' }])
    expect(readFileSync(join(place, '.codex/.env'), 'utf8')).toBe(`SPGW_KEY=${key}\n`)
    expect(readFileSync(join(place, '.codex/config.toml'), 'utf8')).toContain('wire_api = "responses"')
  })

  it.each(clientNames.map((name) => [name]))(
    'writes what %s reads, keeps what was there, and changes nothing the second time',
    async (name) => {
      const place = home()
      const environment = { HOME: place, KEY: key, SPGW_PROJECT: 'search' }
      const argv = [name, '--key-env', 'KEY', '--model', 'demo-slow', '--write']
      const kept: Record<string, string> = {
        '.continue/config.yaml': '# mine\nname: own\nmodels:\n  - name: other\n    provider: ollama\n',
        '.aider.conf.yml': '# mine\ndark-mode: true\nmodel: old\n',
        '.config/io.datasette.llm/extra-openai-models.yaml': '- model_id: other\n  api_key_name: other\n',
        '.config/io.datasette.llm/keys.json': '{"other": "sk-0123456789abcdefgh"}',
        '.config/zed/settings.json': '{"theme": "One Dark", "language_models": {"openai": {}}}',
        '.config/opencode/opencode.json': '{"provider": {"other": {"name": "o"}}}',
      }
      for (const [file, text] of Object.entries(kept)) {
        mkdirSync(dirname(join(place, file)), { recursive: true })
        writeFileSync(join(place, file), text)
      }
      const first = await connect(argv, place, { environment })
      expect([first.status, first.io.err()]).toEqual([0, expect.stringContaining(clients[name].note)])
      expect(first.io.err()).not.toContain('0123456789abcdefgh')
      const written = readdirSync(place, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.bak'))
        .map((entry) => relative(place, join(entry.parentPath, entry.name)))
        .sort()
      const shown = written
        .map((file) => [file, readFileSync(join(place, file), 'utf8')] as const)
        .filter(([file, text]) => text !== kept[file])
        .map(([file, text]) => `# ${file}\n${text.replaceAll(key, 'sp_live_KEY')}`)
      await expect(shown.join('\n')).toMatchFileSnapshot(`../fixtures/cli/connect-${name}.txt`)
      expect((await connect(argv, place, { environment })).io.err()).toBe('Nothing to change.\n')
    },
  )

  it.each([
    ['gpt-5.2-codex', false],
    ['openai/o3', false],
    ['gpt-oss-120b', true],
    ['openai/gpt-oss-20b', true],
    ['claude-sonnet-4-5', true],
  ])('Codex searches the web with a model of OpenAI alone: %s', (model, isOff) => {
    const settings = { gatewayUrl: 'http://g', key: 'k', model, models: [], profile: null }
    const [file] = clients.codex.files(settings, { home: '/h', here: '/h', environment: {} })
    expect(file?.edit(null, 'config.toml').includes('web_search = "disabled"')).toBe(isOff)
  })

  it('writes a profile of Codex beside its usual settings, which stay', async () => {
    const place = home()
    mkdirSync(join(place, '.codex'))
    writeFileSync(join(place, '.codex/config.toml'), 'model = "gpt-5"\n')
    const argv = ['codex', '--key-env', 'KEY', '--model', 'demo-slow', '--profile', 'slow', '--write']
    expect((await connect(argv, place)).status).toBe(0)
    expect(readFileSync(join(place, '.codex/config.toml'), 'utf8')).toBe('model = "gpt-5"\n')
    const written = readFileSync(join(place, '.codex/slow.config.toml'), 'utf8')
    const tables = written.indexOf('[model_providers.spgw]')
    expect(written.indexOf('web_search = "disabled"')).toBeGreaterThan(-1)
    expect(written.indexOf('web_search = "disabled"')).toBeLessThan(tables)
  })

  it('asks the gateway which models the key can use, where it belongs, before it makes or writes anything', async () => {
    const place = home()
    const wrong = await connect(['codex', '--key-env', 'KEY', '--model', 'demo-slw', '--write'], place)
    expect([wrong.status, wrong.io.err()]).toEqual([2, expect.stringContaining('Did you mean demo-slow?')])
    expect(wrong.calls).toContainEqual([
      'keys.models',
      { lane: 'openai', key: 'key_1', project: 'search', environment: 'staging' },
    ])
    const fresh = await connect(
      ['claude-code', '--create-key', 'x', '--model', 'gpt', '--write', '-e', 'staging'],
      place,
    )
    expect(fresh.io.err()).toContain('Use one of demo, demo-slow.')
    expect(fresh.calls).toEqual([
      ['status', {}],
      ['keys.models', { lane: 'anthropic', environment: 'staging' }],
      ['routes.explain', { lane: 'anthropic', environment: 'staging', model: 'gpt' }],
    ])
    expect(readdirSync(place)).toEqual([])
    expect((await connect(['aider', '--key-env', 'KEY'], place)).io.err()).toContain('aider needs a model.')
    const revoked = {
      ...gateway,
      'keys.list': () => [{ id: 'key_1', last_four: key.slice(-4), state: 'revoked' }],
    }
    const refused = await connect(['pi', '--key-env', 'KEY'], place, { gateway: revoked })
    expect([refused.status, refused.io.err()]).toEqual([5, expect.stringContaining('The key is revoked')])
    const none = await connect(['pi', '--key-env', 'KEY'], place, { gateway: { ...gateway, 'keys.models': () => [] } })
    expect(none.io.err()).toContain('The key can use no model on the openai lane.')
  })

  it('takes a model that no list shows, where a route would take it', async () => {
    const taken = { 'keys.models': () => [], 'routes.explain': () => ({ taken: [{ provider: 'vllm' }] as unknown[] }) }
    const argv = ['claude-code', '--key-env', 'KEY', '--model', 'qwen3', '--write']
    const routed = await connect(argv, home(), { gateway: { ...gateway, ...taken } })
    expect(routed.status).toBe(0)
    expect(routed.calls.at(-1)).toEqual([
      'routes.explain',
      { lane: 'anthropic', key: 'key_1', project: 'search', environment: 'staging', model: 'qwen3' },
    ])
    const older = { ...taken, 'keys.models': () => [{ model: 'qwen2', context_tokens: null, output_tokens: null }] }
    const near = await connect(argv, home(), { gateway: { ...gateway, ...older } })
    expect([near.status, near.io.err()]).toEqual([0, expect.stringContaining('no list has it. Did you mean qwen2?')])
    const none = { ...gateway, 'keys.models': () => [] }
    expect((await connect(argv, home(), { gateway: none })).io.err()).toContain('The key can use no model')
  })

  /** A gateway of which only the lanes can be reached. */
  async function startLanes(
    status: number,
    body: object,
    headers: Record<string, string> = { 'x-sp-request-id': 'req_1' },
  ): Promise<string> {
    const server = createServer(({ url }, response) => {
      const isTaken = /[/]models[/]/.test(url ?? '') ? url?.endsWith('/qwen3%2Flarge') === true : true
      const answered = isTaken ? status : 404
      response.writeHead(answered, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('asks the gateway that is named with the key alone', async () => {
    const lanes = await startLanes(200, { data: [{ id: 'demo', max_input_tokens: 9 }, { id: 'qwen' }], models: [] })
    const from = async (url: string, ...argv: string[]) => {
      const { status, io, connected } = await connect([...argv, '--key-env', 'KEY', '--url', url], home())
      return { status, out: io.out(), err: io.err(), connected }
    }
    const base = await from(`${lanes}/v1/anthropic`, 'claude-code', '--model', 'demo')
    expect([base.status, base.connected]).toEqual([0, []])
    expect(base.out).toContain(`"ANTHROPIC_BASE_URL": "${lanes}/v1/anthropic"`)
    expect((await from(`${lanes}/v1`, 'codex')).out).toContain(`base_url = "${lanes}/v1"`)
    expect((await from(lanes, 'codex', '--model', 'dema')).err).toContain('Did you mean demo?')
    expect((await from(lanes, 'codex', '--model', 'llama')).err).toContain('Use one of demo, qwen.')
    // No list has it, and a route with a pattern takes it.
    expect((await from(lanes, 'codex', '--model', 'qwen3/large')).out).toContain('model = "qwen3/large"')
    expect((await from(lanes, 'gemini-cli', '--model', 'qwen3/large')).out).toContain('qwen3/large')
    expect((await from(lanes, 'gemini-cli', '--model', 'demo')).err).toContain('The key can use no model on the gemini')

    const revoked = await startLanes(401, { error: { message: 'This gateway key has been revoked.' } })
    expect(await from(revoked, 'claude-code', '--write')).toMatchObject({
      ...{ status: 5, out: '', err: expect.stringContaining('This gateway key has been revoked.') },
    })
    const other = await from(await startLanes(404, {}, {}), 'claude-code')
    expect(other.err).toContain('does not answer as a gateway: 404 at /v1/anthropic/v1/models.')
    const idle = { status: () => Promise.reject(new GatewayNotRunning('/d/admin.sock', null)) }
    const unnamed = await connect(['codex', '--key-env', 'KEY'], home(), { gateway: idle })
    expect([unnamed.status, unnamed.io.err()]).toEqual([
      3,
      expect.stringContaining('spgw serve; or name the gateway: --url'),
    ])
    const nowhere = await from('http://127.0.0.1:1', 'claude-code')
    expect([nowhere.status, nowhere.err]).toEqual([0, expect.stringContaining('could not be reached from here')])
    const plain = await from('http://0.0.0.1:1', 'claude-code')
    expect([plain.status, plain.err]).toEqual([
      0,
      expect.stringContaining('Warning: the key is sent unencrypted to 0.0.0.1:1.'),
    ])
    expect(nowhere.err).not.toContain('unencrypted')
  })

  it.each([
    [['nobody'], 'Use one of claude-code'],
    [['codex', '--write'], '--write needs a gateway key.'],
    [['codex', '--key-env', 'NONE'], 'The variable NONE contains no gateway key.'],
    [['codex', '--key-env', 'HOME'], 'Gateway keys begin with sp_live_.'],
    [['codex', '--key-env', 'KEY', '--key-stdin'], 'cannot be used together'],
    [['claude-code', '--profile', 'x'], 'claude-code has no profiles.'],
    [['codex', '--profile', '../x'], 'is not a valid name of a profile'],
    [['codex', '--model', 'a"b'], 'is not a valid model name'],
    [['codex', '--url', 'here'], 'is not the URL of a gateway'],
  ])('%j is wrong usage', async (argv, words) => {
    const { status, io } = await connect(argv, '/nowhere')
    expect([status, io.err()]).toEqual([2, expect.stringContaining(words)])
  })
})
