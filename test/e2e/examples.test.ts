import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { hasProgram } from '../support/executable.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listenOnPort } from '../support/listen.ts'

const root = join(import.meta.dirname, '../..')
const examples = join(root, 'examples')

let directory: string
let gateway: TestGateway
let key = ''
beforeAll(async () => {
  // Below the project, so that the programs find the SDKs.
  mkdirSync(join(root, '.build'), { recursive: true })
  directory = mkdtempSync(join(root, '.build/examples-'))
  gateway = await startGateway({ flags: ['--demo'], environment: { SPGW_GATEWAY_TRUSTED_PROXIES: '127.0.0.1' } })
  while (key === '') {
    key = /Bearer (sp_live_\w+)/.exec(gateway.stdout())?.[1] ?? ''
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})
afterAll(async () => {
  await gateway.stop()
  rmSync(directory, { recursive: true })
})

describe('examples/sdk', () => {
  /** The answer is printed twice: whole, and as it was streamed. */
  const runExample = async (program: string, file: string) => {
    const env = { ...process.env, SPGW_URL: gateway.baseUrl, SPGW_KEY: key }
    const { stdout } = await promisify(execFile)(program, [file], { env })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain('hello')
    expect(lines[1]).toBe(lines[0])
  }

  it.each(['openai', 'anthropic', 'gemini'])('%s.mjs gets an answer, whole and streamed', async (name) => {
    const file = join(directory, `${name}.mjs`)
    copyFileSync(join(examples, 'sdk', `${name}.mjs`), file)
    await runExample(process.execPath, file)
  })

  // `.ci/run` makes it from examples/sdk/requirements.txt where it can; elsewhere the programs are compiled only.
  const python = join(root, '.build/python/bin/python3')
  const programs = ['openai_chat', 'anthropic_messages', 'gemini_generate'].map((name) => [`${name}.py`])
  it.skipIf(!hasProgram('python3')).each(programs)('%s compiles (needs python3)', (name) => {
    const compile = 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")'
    const { status, stderr } = spawnSync('python3', ['-c', compile, join(examples, 'sdk', name)], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })
  if (existsSync(python)) {
    it.each(programs)('%s gets an answer, whole and streamed', (name) =>
      runExample(python, join(examples, 'sdk', name)),
    )
  }
})

describe('examples/compose/nginx.conf', () => {
  let nginx: ChildProcess
  let port = 0
  const runsNginx = hasProgram('nginx') && hasProgram('openssl')
  beforeAll(async () => {
    if (!runsNginx) return
    port = await freePort()
    const certificate = makeCertificate(directory, 'gateway.example.com')
    renameSync(certificate.cert, join(directory, 'cert.pem'))
    renameSync(certificate.key, join(directory, 'key.pem'))
    const address = (url: string) => new URL(url).host
    const conf = readFileSync(join(examples, 'compose/nginx.conf'), 'utf8')
      .replaceAll('spgw:8787', address(gateway.baseUrl))
      .replaceAll('spgw:8788', address(gateway.consoleUrl).replace('localhost', '127.0.0.1'))
      // A name that the console answers to without being told its address.
      .replaceAll('console.example.com', 'localhost')
      .replaceAll('/etc/nginx/certificates', directory)
      .replaceAll('/var/log/nginx', directory)
      .replaceAll('listen 443', `listen 127.0.0.1:${port}`)
    writeFileSync(join(directory, 'default.conf'), conf)
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path temp;`)
    const around = `daemon off; pid nginx.pid; error_log stderr; events {}
      http { ${temporary.join(' ')} include default.conf; }`
    writeFileSync(join(directory, 'nginx.conf'), around)
    const words = ['-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr']
    const tested = spawnSync('nginx', ['-t', ...words], { encoding: 'utf8' })
    expect(tested, tested.stderr).toMatchObject({ status: 0 })
    nginx = spawn('nginx', words, { stdio: 'inherit' })
    while ((await ask('gateway.example.com', '/readyz').catch(() => null)) === null) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
  afterAll(async () => {
    if (runsNginx && nginx.kill('SIGTERM')) await once(nginx, 'exit')
  })

  const ask = async (host: string, path: string, body: object | null = null, headers: Record<string, string> = {}) => {
    const asked = request({
      ...{ host: '127.0.0.1', port, servername: host, path, rejectUnauthorized: false },
      method: body === null ? 'GET' : 'POST',
      headers: { host, 'content-type': 'application/json', ...headers },
    })
    asked.end(body === null ? '' : JSON.stringify(body))
    const [response] = await once(asked, 'response')
    return { status: response.statusCode, headers: response.headers, body: await text(response) }
  }

  it.skipIf(!runsNginx)('leads to the gateway, with the client’s address (needs nginx, openssl)', async () => {
    const path = '/v1/gemini/v1beta/models/demo:streamGenerateContent'
    const content = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const answer = await ask('gateway.example.com', `${path}?alt=sse&key=${key}`, content, headers)
    expect(answer.status, answer.body).toBe(200)
    expect(answer.body).toContain('hello')
    const record = await gateway.record(answer.headers['x-sp-request-id'])
    expect(record.client.address).toBe('203.0.113.7')
    const log = readFileSync(join(directory, 'access.log'), 'utf8')
    expect(log).toContain(`"POST ${path}" 200`)
    expect(log).not.toContain(key)
  })

  it.skipIf(!runsNginx)('leads to the console (needs nginx, openssl)', async () => {
    const page = await ask('localhost', '/')
    expect(page.status, page.body).toBe(200)
    expect(page.body).toContain('<title>spgw</title>')
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  const port = await listenOnPort(server)
  server.close()
  await once(server, 'close')
  return port
}

describe('examples/three-teams', () => {
  it('is applied, and keeps the teams apart', async () => {
    const credentials = { OPENAI_API_KEY: 'sk-canary-0123456789abcdef', ANTHROPIC_API_KEY: 'sk-ant-canary-0123456789' }
    const teams = await startGateway({ environment: credentials })
    const file = join(examples, 'three-teams/gateway.yaml')
    try {
      const seen = await teams.spgw(['diff', '-f', file])
      for (const name of ['project search', 'provider anthropic', 'policy support-conversations', 'key notebooks']) {
        expect(seen.stdout).toContain(`+ create ${name}`)
      }
      const applied = await teams.spgw(['apply', '-f', file, '--yes', '--skip-check', '--json'])
      expect(applied.code, applied.stderr).toBe(0)
      expect(JSON.parse(applied.stdout).keys).toHaveLength(4)
      expect(await teams.spgw(['diff', '-f', file, '--prune', '--json'])).toMatchObject({ stdout: '[]\n', code: 0 })
      const explain = async (key: string, model: string, project: string, environment = 'production') => {
        const { error, taken } = await teams.admin.routes.explain({ project, environment, key, model })
        return error?.code ?? taken.map(({ provider }) => provider).join()
      }
      expect(await explain('indexer', 'gpt-4o-mini', 'search')).toBe('openai')
      expect(await explain('indexer', 'gpt-4o', 'search')).toBe('policy_denied')
      expect(await explain('helpdesk', 'claude-opus-5-5', 'support')).toBe('anthropic')
      expect(await explain('helpdesk-staging', 'claude-opus-5-5', 'support', 'staging')).toBe('anthropic')
      expect(await explain('helpdesk', 'gpt-4o-mini', 'support')).toBe('policy_denied')
      expect(await explain('notebooks', 'assistant', 'research', 'lab')).toBe('lab-server,openai')
    } finally {
      await teams.stop()
    }
  })
})
