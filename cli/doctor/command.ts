import type { Diagnostic } from '../../src/core/diagnostic.ts'
import { exitStatus } from '../fault.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { LocalCommand } from '../local-command.ts'
import type { DoctorParts } from './parts.ts'

const settingsFileHelp =
  'Settings file (default: that of the gateway that runs, else config.yaml in the data directory)'

export function makeDoctorCommand(parts: DoctorParts): LocalCommand {
  return {
    name: 'doctor',
    summary: 'Check every part of the gateway and show how to fix problems',
    options: [{ flags: '--config <file>', description: settingsFileHelp }],
    examples: ['doctor', 'doctor --json', 'doctor --data-dir /var/lib/spgw'],
    async run(options, io, settings, gateway) {
      const { runChecks } = await import('./run-checks.ts')
      const diagnostics = await runChecks(options, io, settings, gateway, parts)
      await print(diagnostics, settings, io)
      return diagnostics.some(({ state }) => state === 'problem') ? exitStatus.failed : exitStatus.done
    },
  }
}

const signs = { ok: '✓', warning: '!', problem: '✗' } as const
const tones = { ok: 'good', warning: 'warning', problem: 'bad' } as const

async function print(diagnostics: readonly Diagnostic[], settings: GlobalOptions, io: Io): Promise<void> {
  if (settings.output !== 'table') {
    const { renderDocument } = await import('../operation-bundle.ts')
    await io.stdout.write(await renderDocument(settings.output, undefined, diagnostics))
    return
  }
  const { hangingLines, stdoutView } = await import('../operation-bundle.ts')
  const { paint, width: columns } = stdoutView(io, settings.utc)
  const { escapeControls } = await import('../../src/admin/contract/show-value.ts')
  const width = Math.max(...diagnostics.map(({ check }) => check.length))
  const lines = diagnostics.flatMap(({ check, state, message, remedy }) => {
    const head = paint(tones[state], `${signs[state]} ${state.padEnd('warning'.length)}`)
    const indent = 13 + width
    const said = hangingLines(escapeControls(message), indent, columns)
    const advice = remedy === null ? [] : hangingLines(`→ ${escapeControls(remedy)}`, indent + 2, columns)
    const more = advice.map((line, index) => (index === 0 ? ' '.repeat(indent) : '') + paint('quiet', line))
    return [`${head}  ${check.padEnd(width)}  ${said.join('\n')}`, ...more]
  })
  await io.stdout.write(`${lines.join('\n')}\n`)
  await io.stderr.write(`${summarise(diagnostics)}\n`)
}

function summarise(diagnostics: readonly Diagnostic[]): string {
  const count = (state: Diagnostic['state'], word: string) => {
    const amount = diagnostics.filter((diagnostic) => diagnostic.state === state).length
    return amount === 0 ? [] : [`${amount} ${word}${amount === 1 ? '' : 's'}`]
  }
  const parts = [...count('problem', 'problem'), ...count('warning', 'warning')]
  return parts.length === 0 ? 'No problems found.' : `${parts.join(', ')}.`
}
