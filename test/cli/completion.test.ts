import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { completionCommand } from '../../cli/completion/command.ts'
import { GatewayNotRunning } from '../../src/admin/client-fault.ts'
import { hasProgram } from '../support/executable.ts'
import { type RunOptions, runLine } from './run-line.ts'

const gateway = {
  'providers.list': () => [{ name: 'openai', state: 'ready' }, { name: 'azure', state: 'failing' }, { name: 'a b' }],
  'routes.list': () => [{ id: 'rte_1', model: 'gpt-4o*' }],
  'providers.kinds': () => [{ kind: 'demo', title: 'Demo' }],
  'requests.list': () => [{ id: 'req_1', model: 'gpt-4o', state: 'settled' }],
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
    [['providers', 'add', 'x', '--project'], ['--project'], []],
    [['nothing', ''], [], ['list']],
    [['keys', 'create', 'x', ''], [], ['ci']],
  ])('of %j', async (words, some, others) => {
    const offered = await offer(words)
    expect(offered).toEqual(expect.arrayContaining(some))
    expect(offered).toEqual([...new Set(offered)])
    for (const other of others) expect(offered).not.toContain(other)
    if (some.length === 0) expect(offered).toEqual([])
  })

  it('offers names that the running gateway has', async () => {
    expect(await offer(['providers', 'show', ''])).toEqual(['openai', 'azure'])
    expect(await offer(['providers', 'credentials', 'list', 'op'])).toEqual(['openai'])
    expect(await offer(['routes', 'add', 'm', '--provider', ''])).toEqual(['openai', 'azure'])
    expect(await offer(['routes', 'explain', ''])).toEqual(['gpt-4o*'])
    expect(await offer(['requests', 'list', '--key', ''])).toEqual(['ci'])
    expect(await offer(['requests', 'show', ''])).toEqual(['req_1'])
    expect(await offer(['providers', 'add', 'x', '--kind', ''])).toEqual(['demo'])
    // A name that is only being made is nobody else's.
    expect(await offer(['providers', 'add', ''])).toEqual([])
  })

  it('asks within the project that was named, and at the place that was named', async () => {
    expect(await offer(['keys', 'show', '-p', 'search', ''])).toEqual(['other'])
    expect(await offer(['keys', 'show', ''], { environment: { SPGW_PROJECT: 'search' } })).toEqual(['other'])
    const { connected } = await runLine(['__complete', 'keys', 'show', '--data-dir', '/d', ''], { gateway })
    expect(connected).toEqual([{ dataDir: '/d', waitMs: 0, remote: null }])
  })

  it('waits for a gateway on a busy machine', async () => {
    const late: RunOptions['gateway'] = {
      'keys.list': async (_input, { signal }) => {
        await new Promise((resolve) => setTimeout(resolve, 400))
        signal?.throwIfAborted()
        return [{ name: 'ci' }]
      },
    }
    expect(await offer(['keys', 'show', ''], { gateway: late })).toEqual(['ci'])
  })

  it('is silent where no gateway answers', async () => {
    const refuse = () => Promise.reject(new GatewayNotRunning('/d', null))
    expect(await offer(['keys', 'show', ''], { gateway: { 'keys.list': refuse } })).toEqual([])
    expect(await offer(['keys', 'show', ''], { environment: { SPGW_REMOTE: 'https://gw.example.com' } })).toEqual([])
  })

  it.skipIf(!hasProgram('bash'))('is a script that bash takes (needs bash)', async () => {
    const words = `COMP_WORDS=(spgw keys '') COMP_CWORD=2; _spgw; echo "\${COMPREPLY[@]}"`
    expect(await inShell('bash', ['--norc', '-c'], (script) => `. ${script}; ${words}`)).toBe('create list to:night\n')
  })

  it.skipIf(!hasProgram('fish'))('is a script that fish takes, with what each is (needs fish)', async () => {
    const said = await inShell('fish', ['--no-config', '-c'], (script) => `source ${script}; complete -C 'spgw keys '`)
    expect(said).toBe('create\tMake a key: once\nlist\tList keys\nto:night\n')
    expect(
      await inShell('fish', ['--no-config', '-c'], (script) => `source ${script}; complete -C 'spgw keys cr'`),
    ).toBe('create\tMake a key: once\n')
  })

  it.skipIf(!hasProgram('zsh'))('is a script that zsh takes, with what each is (needs zsh)', async () => {
    // A terminal of its own: zsh completes for a line that is being typed, and for nothing else.
    const typed = (script: string) => `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "autoload -Uz compinit; compinit -D -u; . ${script}; print begun"
zpty -r -m shell line $'*\\nbegun*'
zpty -w -n shell $'spgw keys \\t'
zpty -r -m shell line '*to:night*'
print -r -- "$line"
zpty -w -n shell $'cr\\t'
zpty -r -m shell line '*create*'
print -r -- "$line"`
    const said = await inShell('zsh', ['-f', '-c'], typed)
    expect(said).toMatch(/create +-- Make a key: once[\s\S]*list +-- List keys[\s\S]*to:night[\s\S]*create/)
  })

  it.skipIf(!hasProgram('zsh'))(
    'completes at the first key where zsh finds the script itself (needs zsh)',
    async () => {
      const typed = (script: string) => `zmodload zsh/zpty
cp ${script} $HOME/_spgw
zpty shell zsh -f -i
zpty -w shell "fpath=($HOME \\$fpath); autoload -Uz compinit; compinit -D -u; print begun"
zpty -r -m shell line $'*\\nbegun*'
zpty -w -n shell $'spgw keys cr\\t'
zpty -r -m shell line '*create*'
print -r -- "$line"`
      expect(await inShell('zsh', ['-f', '-c'], typed)).toContain('create')
    },
  )
})

/** What a shell says that has the script and a `spgw` that always gives the same answer. */
async function inShell(shell: string, flags: readonly string[], line: (script: string) => string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'spgw-shell-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const answer = 'create\\tMake a key: once\\nlist\\tList keys\\nto:night\\n'
  writeFileSync(join(directory, 'spgw'), `#!/bin/sh\nprintf '${answer}'\n`, { mode: 0o755 })
  const script = join(directory, 'script')
  const { io } = await runLine(['completion', shell], { local: [completionCommand] })
  writeFileSync(script, io.out())
  const env = { PATH: `${directory}:${process.env.PATH}`, HOME: directory, TERM: 'xterm', LANG: 'C.UTF-8' }
  return execFileSync(shell, [...flags, line(script)], { encoding: 'utf8', env, timeout: 60_000 })
}
