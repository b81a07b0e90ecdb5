import { describe, expect, it } from 'vitest'
import { makeTuiCommand, type TuiParts } from '../../cli/tui-command.ts'
import { type RunOptions, runLine } from './run-line.ts'

async function start(
  argv: readonly string[],
  options: RunOptions,
): Promise<{ status: number; parts: TuiParts | null }> {
  let parts: TuiParts | null = null
  const command = makeTuiCommand({
    operations: async () => [],
    version: '0.1.0',
    start: async (given) => {
      parts = given
      return 0
    },
  })
  const { status } = await runLine(['tui', ...argv], { ...options, local: [command] })
  return { status, parts }
}

describe('spgw tui', () => {
  it.each([
    [[], {}, { project: null, environment: null }],
    [['-p', 'search'], {}, { project: 'search', environment: null }],
    [['-p', 'search', '-e', 'staging'], {}, { project: 'search', environment: 'staging' }],
    [['-e', 'staging'], {}, { project: 'default', environment: 'staging' }],
    [[], { SPGW_PROJECT: 'search' }, { project: 'search', environment: null }],
    [['-p', 'web'], { SPGW_PROJECT: 'search', SPGW_ENVIRONMENT: '' }, { project: 'web', environment: null }],
  ])('%j with %j shows %j', async (argv, environment, scope) => {
    const { status, parts } = await start(argv, { terminal: true, environment })
    expect(status).toBe(0)
    expect(parts?.scope).toEqual(scope)
  })

  it('says in its help what to start with', async () => {
    const command = makeTuiCommand({ operations: async () => [], version: '0.1.0', start: async () => 0 })
    const { io } = await runLine(['tui', '--help'], { local: [command] })
    expect(io.out()).toContain('Start with this project (default: $SPGW_PROJECT, else all)')
    expect(io.out()).toContain('-e, --environment <name>')
  })

  it('needs a terminal', async () => {
    expect(await start([], {})).toEqual({ status: 2, parts: null })
  })
})
