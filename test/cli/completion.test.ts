import { describe, expect, it } from 'vitest'
import { completionCommand } from '../../cli/completion/command.ts'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { hasProgram } from '../support/executable.ts'
import { type RunOptions, runLine } from './run-line.ts'

const gateway = {
  'providers.list': () => [{ name: 'openai', state: 'ready' }, { name: 'azure', state: 'failing' }, { name: 'a b' }],
  'routes.list': () => [{ model: 'gpt-4o*' }],
  'keys.list': ({ project }: Record<string, unknown>) => [{ name: project === 'search' ? 'other' : 'ci' }],
}

/** The values that a shell is offered behind `spgw`. */
async function offer(words: readonly string[], more: RunOptions = {}): Promise<string[]> {
  const { status, io } = await runLine(['__complete', ...words], { local: [completionCommand], gateway, ...more })
  expect([status, io.err()]).toEqual([0, ''])
  return io
    .out()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
    .filter((value) => value !== '')
}

describe('completion', () => {
  it.each<[string[], string[], string[]]>([
    [['pro'], ['projects', 'providers'], ['keys']],
    [['comp'], ['completion'], []],
    [['completion', ''], ['bash', 'zsh', 'fish'], []],
    [['keys', ''], ['create', 'list', 'rotate'], []],
    [['providers', 'cr'], ['credentials'], ['add']],
    [['providers', 'credentials', ''], ['add', 'list', 'remove'], ['check']],
    [['keys', 'create', '--n'], ['--name', '--no-wait'], ['--json']],
    [['requests', 'list', '--lane', ''], ['openai', 'anthropic', 'gemini'], []],
    [['providers', 'add', 'x', '--credential'], ['--credential-stdin', '--credential-env'], ['--credential']],
    [['nothing', ''], [], ['list']],
    [['keys', 'create', 'x', ''], [], ['ci']],
  ])('of %j', async (words, some, others) => {
    const offered = await offer(words)
    expect(offered).toEqual(expect.arrayContaining(some))
    for (const other of others) expect(offered).not.toContain(other)
    if (some.length === 0) expect(offered).toEqual([])
  })

  it('offers names that the running gateway has', async () => {
    expect(await offer(['providers', 'show', ''])).toEqual(['openai', 'azure'])
    expect(await offer(['providers', 'credentials', 'list', 'op'])).toEqual(['openai'])
    expect(await offer(['routes', 'add', 'm', '--provider', ''])).toEqual(['openai', 'azure'])
    expect(await offer(['routes', 'explain', ''])).toEqual(['gpt-4o*'])
    expect(await offer(['requests', 'list', '--key', ''])).toEqual(['ci'])
    // A name that is only being made is nobody else's.
    expect(await offer(['providers', 'add', ''])).toEqual([])
  })

  it('asks within the project that was named, and at the place that was named', async () => {
    expect(await offer(['keys', 'show', '-p', 'search', ''])).toEqual(['other'])
    expect(await offer(['keys', 'show', ''], { environment: { SPGW_PROJECT: 'search' } })).toEqual(['other'])
    const { connected } = await runLine(['__complete', 'keys', 'show', '--data-dir', '/d', ''], { gateway })
    expect(connected).toEqual([{ dataDir: '/d', waitMs: 0, remote: null }])
  })

  it('is silent where no gateway answers', async () => {
    const refuse = () => Promise.reject(new GatewayNotRunning('/d', null))
    expect(await offer(['keys', 'show', ''], { gateway: { 'keys.list': refuse } })).toEqual([])
    expect(await offer(['keys', 'show', ''], { environment: { SPGW_REMOTE: 'https://gw.example.com' } })).toEqual([])
  })

  it.runIf(hasProgram('bash'))('is a script that bash takes', async () => {
    const { execFileSync } = await import('node:child_process')
    const { io } = await runLine(['completion', 'bash'], { local: [completionCommand] })
    const answer = `spgw() { printf 'create\\tmakes\\nlist\\tshows\\n'; }; ${io.out()}
      COMP_WORDS=(spgw keys '') COMP_CWORD=2; _spgw; echo "\${COMPREPLY[@]}"`
    expect(execFileSync('bash', ['--norc', '-c', answer], { encoding: 'utf8' })).toBe('create list\n')
  })
})
