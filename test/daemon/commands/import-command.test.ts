import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { importCommand } from '../../../src/daemon/commands/import-command.ts'
import { type RunOptions, runLine } from '../../cli/run-line.ts'

const config = 'model_list:\n  - model_name: gpt\n    litellm_params: { model: openai/gpt-4o, rpm: 5 }\n'
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'import-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

async function runImport(argv: readonly string[], options: RunOptions = {}) {
  const { status, io } = await runLine(['import', ...argv], { ...options, local: [importCommand] })
  return { status, out: io.out(), err: io.err() }
}

describe('spgw import', () => {
  it('writes the file to stdout, and what was left out to stderr', async () => {
    const file = join(directory, 'config.yaml')
    await writeFile(file, config)
    const { status, out, err } = await runImport(['litellm', file])
    expect(status).toBe(0)
    expect(out).toContain(`# Converted from ${file}.`)
    expect(out).toContain('model: gpt\n')
    expect(err).toContain('Converted: 1 provider, 1 route.')
    expect(err).toContain('Not converted (1):')
    expect(err).toContain(`${file}:3:45: rpm: that file does not make it a limit`)
  })

  it('reads no more of a file than a configuration has', async () => {
    const { status, err } = await runImport(['litellm', '/dev/zero'])
    expect(status).toBe(2)
    expect(err).toContain('/dev/zero is longer than 8 MiB.')
  })

  it('reads standard input, as JSON too', async () => {
    const { status, out } = await runImport(['portkey', '-', '--model', 'fast'], {
      stdin: '{"provider": "openai", "override_params": {"model": "gpt-4o"}}',
    })
    expect(status).toBe(0)
    expect(out).toMatch(/model: fast\n +targets:\n +- provider: openai\n +upstream_model: gpt-4o/)
  })

  it('puts routes and budgets into the project and environment that are named', async () => {
    const stdin = `${config}general_settings: { max_request_size_mb: 5 }\n`
    const placed = async (argv: string[], environment: Record<string, string> = {}) => {
      const { out } = await runImport(['litellm', '-', '--json', ...argv], { stdin, environment })
      const { routes, policies } = JSON.parse(out)
      return [routes[0].project, routes[0].environment, policies[0].name, policies[0].attach]
    }
    expect(await placed([])).toEqual([undefined, undefined, 'litellm', ['workspace']])
    expect(await placed(['--project', 'search'])).toEqual(['search', undefined, 'litellm-search', ['project:search']])
    expect(await placed(['-p', 'search', '-e', 'staging'])).toEqual([
      'search',
      'staging',
      'litellm-search-staging',
      ['environment:search/staging'],
    ])
    expect(await placed([], { SPGW_PROJECT: 'search' })).toEqual([
      'search',
      undefined,
      'litellm-search',
      ['project:search'],
    ])
    expect(await placed(['-e', 'staging'])).toEqual([
      undefined,
      'staging',
      'litellm-staging',
      ['environment:default/staging'],
    ])
  })

  it('gives the same as JSON', async () => {
    const { out } = await runImport(['litellm', '-', '--json'], { stdin: config })
    expect(JSON.parse(out)).toMatchObject({
      providers: [{ name: 'openai' }],
      routes: [{ model: 'gpt' }],
      left: [{ what: 'rpm' }],
    })
  })

  it('fails with --strict where something was left out, and only there', async () => {
    expect((await runImport(['litellm', '-', '--strict'], { stdin: config })).status).toBe(5)
    const whole = config.replace(', rpm: 5', '')
    const { status, err } = await runImport(['litellm', '-', '--strict'], { stdin: whole })
    expect(status).toBe(0)
    expect(err).toBe('Converted: 1 provider, 1 route.\n')
  })

  it.each([
    ['an unknown format', ['openrouter', '-'], config, 'FORMAT cannot be openrouter.', 'Use one of litellm, portkey.'],
    ['nothing to convert', ['litellm', '-'], '{}', 'Nothing in - could be converted.', 'with its model_list'],
    ['an empty file', ['portkey', '-'], '', 'Nothing in - could be converted.', 'with its targets'],
    ['no YAML', ['litellm', '-'], 'a: [1, 2\nb: }', 'standard input', 'neither YAML nor JSON'],
    [
      'a missing file',
      ['litellm', '/nowhere/x.yaml'],
      '',
      '/nowhere/x.yaml cannot be read (ENOENT).',
      'that you can read',
    ],
  ])('refuses %s with a cause and what to do', async (_what, argv, stdin, cause, hint) => {
    const { status, out, err } = await runImport(argv, { stdin })
    expect(status).toBe(2)
    expect(out).toBe('')
    expect(err).toContain(cause)
    expect(err).toContain(hint)
  })

  it('counts what there are several of, and gives a model that clients may name as they like', async () => {
    const targets = ['openai', 'anthropic'].map((provider) => ({ provider, override_params: { model: 'm' } }))
    const stdin = JSON.stringify({ strategy: { mode: 'fallback' }, targets })
    const { out, err } = await runImport(['portkey', '-'], { stdin })
    expect(out).toContain('model: "*"\n')
    expect(err).toContain('Converted: 2 providers, 1 route.\n')
  })

  it('names each place of a file that cannot be read in a line of its own', async () => {
    const { err } = await runImport(['litellm', '-'], { stdin: 'a: 1\na: 2\nb: 1\nb: 2\n' })
    expect(err.split('\n').filter((line) => line.includes('standard input:'))).toHaveLength(2)
  })

  it('shows what the file says, and has no terminal obey it', async () => {
    const stdin = JSON.stringify({
      model_list: [
        { model_name: 'a', litellm_params: { model: 'openai/x', 'odd\u001b]0;owned\u0007': 1 } },
        { model_name: 'b\u001b[2J', litellm_params: { model: 'nobody\u001b[2J/x' } },
        { model_name: 'c\nConverted: everything', litellm_params: { model: 'openai/x' } },
      ],
    })
    const { status, out, err } = await runImport(['litellm', '-'], { stdin })
    expect(status).toBe(0)
    expect([...`${out}${err}`].filter((one) => one < ' ' && one !== '\n')).toEqual([])
    expect(err).toContain('odd\\u001b]0;owned\\u0007: the gateway adds no parameters')
    expect(err.split('\n').filter((line) => line.startsWith('Converted'))).toEqual(['Converted: 1 provider, 1 route.'])
  })

  it('says why nothing could be converted', async () => {
    const stdin = 'model_list: [{ model_name: x, litellm_params: { model: cohere/command } }]'
    const { status, err } = await runImport(['litellm', '-'], { stdin })
    expect(status).toBe(2)
    expect(err).toContain('this gateway has no provider kind for "cohere"')
  })
})
