import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { executable, hasProgram } from '../support/executable.ts'
import { startMockProvider } from '../support/mock-provider.ts'

/** What README.md tells people to paste, run as it stands but for addresses. */
const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const run = promisify(execFile)

/** A fenced block by what stands behind its backticks: `js openai`. */
function snippet(info: string): string {
  const blocks = [...readme.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].filter(([, found]) => found === info)
  const [only] = blocks
  if (only?.[2] === undefined || blocks.length !== 1) throw new Error(`README.md has ${blocks.length} blocks ${info}`)
  return only[2]
}

let directory: string
beforeAll(() => {
  // Below the project, so that the snippets find the SDKs.
  mkdirSync(join(root, '.build'), { recursive: true })
  directory = mkdtempSync(join(root, '.build/readme-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

describe('a real provider', () => {
  it.skipIf(!hasProgram('jq') || !hasProgram('curl'))('answers the six lines (needs curl, jq)', async () => {
    const credential = `sk-${'readme'.repeat(6)}`
    const mock = await startMockProvider('openai', credential)
    const place = mkdtempSync(join(tmpdir(), 'readme-'))
    putOnPath(place, mock.baseUrl)
    const [beginning, rest = ''] = snippet('sh session').split(/(?<=^spgw serve &\n)/m)
    const tail = 'spgw requests tail\n'
    expect(rest.endsWith(tail)).toBe(true)
    const shell = startShell(place, {
      OPENAI_API_KEY: credential,
      SPGW_GATEWAY_LISTEN: '127.0.0.1:0',
      SPGW_CONSOLE_LISTEN: '127.0.0.1:0',
    })
    try {
      shell.write(beginning ?? '')
      const [, address = ''] = await shell.says(/gateway http:\/\/(\S+)/)
      const lines = rest.replaceAll('localhost:8787', address)
      const call = lines.slice(lines.indexOf('curl'), -tail.length)
      shell.write(lines.replace(tail, ''))
      await shell.says(/"content": ?"Hello from/)
      // A tail shows what ends after it began: another request is sent until it does.
      shell.write(`(while sleep 0.2; do ${call.trim()} >/dev/null; done) &\n${tail}`)
      await shell.says(/^[\d:]+ +200 +gpt-4o-mini.* ci /m)
      mock.assertClean()
    } finally {
      await shell.stop()
      await mock.close()
      rmSync(place, { recursive: true })
    }
  })
})

describe('the SDKs', () => {
  let gateway: ChildProcess
  let baseUrl = ''
  let key = ''
  beforeAll(async () => {
    const data = join(directory, 'data')
    const listen = ['--listen', '127.0.0.1:0', '--console-listen', '127.0.0.1:0']
    gateway = spawn(executable, ['serve', '--demo', '--data-dir', data, ...listen], { env: {} })
    const seen = await readUntil(gateway, /Bearer (sp_live_\w+)/)
    key = seen[1] ?? ''
    baseUrl = /curl -s (http:\/\/[^/]+)/.exec(seen.input)?.[1] ?? ''
    expect(baseUrl).not.toBe('')
  })
  afterAll(async () => {
    if (gateway.kill('SIGTERM')) await once(gateway, 'exit')
  })

  it.each([
    ['openai', 'openai', 'openai'],
    ['openai', 'openai', 'openai-6'],
    ['anthropic', '@anthropic-ai/sdk', '@anthropic-ai/sdk'],
    ['anthropic', '@anthropic-ai/sdk', 'anthropic-sdk-0'],
    ['gemini', '@google/genai', '@google/genai'],
    ['gemini', '@google/genai', 'genai-1'],
  ])('get an answer on the %s lane: %s as %s', async (lane, name, installed) => {
    const text = snippet(`js ${lane}`).replace('http://localhost:8787', baseUrl)
    expect(text).toContain(`from '${name}'`)
    const file = join(directory, `${installed.replaceAll(/\W/g, '-')}.mjs`)
    writeFileSync(file, text.replace(`from '${name}'`, `from '${installed}'`))
    const { stdout } = await run(process.execPath, [file], { env: { SPGW_KEY: key } })
    expect(stdout).toContain('hello')
  })

  it.each(['openai', 'anthropic', 'gemini'])('have one address on the %s lane, in Python too', (lane) => {
    const address = (text: string) => /http:\/\/localhost:8787[\w/]*/.exec(text)?.[0]
    expect(address(snippet(`python ${lane}`))).toBe(address(snippet(`js ${lane}`)))
    expect(readme).toContain(`| \`${address(snippet(`js ${lane}`))}\` |`)
  })
})

/** `spgw` on the path: the executable, whose providers are all at the mock. */
function putOnPath(place: string, baseUrl: string): void {
  const script = `#!/bin/sh
[ "$1 $2" = "providers add" ] && exec '${executable}' "$@" --base-url '${baseUrl}'
exec '${executable}' "$@"
`
  writeFileSync(join(place, 'spgw'), script)
  chmodSync(join(place, 'spgw'), 0o755)
}

/** A shell that is told lines and says lines; ended with all that it started. */
function startShell(place: string, environment: Record<string, string>) {
  const path = `${place}:${process.env.PATH}`
  const env = { PATH: path, SPGW_DATA_DIR: join(place, 'data'), ...environment }
  const shell = spawn('bash', [], { cwd: place, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  return {
    write: (text: string) => void shell.stdin.write(text),
    says: (form: RegExp) => readUntil(shell, form),
    async stop() {
      const ended = once(shell, 'close')
      if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGTERM')
      await ended
    },
  }
}

/** What a process has said when it has said that. */
async function readUntil(child: ChildProcess, form: RegExp): Promise<RegExpExecArray> {
  let text = ''
  return new Promise((resolve, reject) => {
    const hear = (chunk: string) => {
      text += chunk
      const found = form.exec(text)
      if (found) resolve(found)
    }
    child.stdout?.setEncoding('utf8').on('data', hear)
    child.stderr?.setEncoding('utf8').on('data', hear)
    child.once('close', () => reject(new Error(`ended without ${form}:\n${text}`)))
    setTimeout(() => reject(new Error(`nothing of ${form}:\n${text}`)), 60_000).unref()
  })
}
