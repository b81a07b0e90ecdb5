import type { ProbeResult } from '../src/admin/client-health.ts'
import { parseDuration } from '../src/core/units.ts'
import { exitStatus, usageFault } from './fault.ts'
import type { EnvironmentVariables } from './io.ts'
import type { LocalCommand } from './local-command.ts'

export interface HealthParts {
  /** The admin socket of the gateway that the flag and the environment name; null: there is no data directory. */
  locate(dataDir: string | null, environment: EnvironmentVariables): Promise<string | null>
}

const usualTimeout = '3s'

/** The probe of a container, and of whatever restarts what does not answer: 0 or 1, and nothing leaves the machine. */
export function makeHealthCommand({ locate }: HealthParts): LocalCommand {
  return {
    name: 'health',
    summary: 'Check whether the gateway on this machine is ready; the exit status is 0 or 1',
    options: [
      { flags: '--live', description: 'Check only that its process answers, ready or not' },
      {
        flags: '--timeout <duration>',
        description: `Fail if there is no answer within this time (default: ${usualTimeout})`,
      },
    ],
    examples: ['health', 'health --live', 'health --json --timeout 500ms'],
    async run(options, io, settings) {
      const timeoutMs = readTimeout(options.timeout)
      const socketPath = await locate(settings.dataDir, io.environment)
      const { askHealth } = await import('../src/admin/client-health.ts')
      const health: ProbeResult =
        socketPath === null
          ? { ok: false, state: 'not running', reasons: ['no data directory was found'], listener: null }
          : await askHealth(socketPath, options.live === true, timeoutMs)
      await io.stdout.write(await render(health, settings.output))
      return health.ok ? exitStatus.done : exitStatus.failed
    },
  }
}

function readTimeout(given: unknown): number {
  const text = typeof given === 'string' ? given : usualTimeout
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== null && timeoutMs > 0) return timeoutMs
  throw usageFault(`--timeout ${text} is not a duration.`, 'Use one like 500ms or 3s.')
}

async function render(health: ProbeResult, output: 'table' | 'json' | 'yaml' | 'csv'): Promise<string> {
  if (output !== 'table') return (await import('./operation-bundle.ts')).renderDocument(output, undefined, health)
  const { escapeControls } = await import('../src/core/text/escape-controls.ts')
  return health.reasons.length === 0
    ? `${health.state}\n`
    : `${health.state}: ${escapeControls(health.reasons.join('; '))}\n`
}
