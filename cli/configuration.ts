import { describeMissing } from '../src/admin/contract/show-reach.ts'
import { escapeControls } from '../src/admin/contract/show-value.ts'
import { completeInput } from './ask.ts'
import { checkInput } from './check-input.ts'
import { readConfigurationFiles } from './configuration-files.ts'
import { CommandFault, exitStatus, usageFault } from './fault.ts'
import type { ParsedFlags } from './flags.ts'
import type { GlobalOptions } from './global-options.ts'
import { canAsk, type Io, wantsColour } from './io.ts'
import type { GatewayClient, Operation } from './operation.ts'
import { renderDocument } from './print/machine.ts'
import {
  type ConfigurationPlan,
  countChanges,
  done,
  type PlanProblem,
  renderPlan,
  type ShownPlan,
  toDo,
} from './print/plan.ts'
import { makePaint } from './print/view.ts'

/** What `apply` answers. */
interface AppliedConfiguration extends ShownPlan {
  keys: readonly { name: string; project: string; environment: string; key: string }[]
  /** An older gateway does not tell. */
  alerts?: readonly { name: string; secret: string }[]
  checked: readonly string[]
}

interface ConfigurationRun {
  gateway: GatewayClient
  input: Record<string, unknown>
  settings: GlobalOptions
  io: Io
}

const runs: Record<string, (situation: ConfigurationRun) => Promise<number>> = { diff, apply, export: writeExport }

export async function runConfiguration(
  { operation, parsed, settings }: { operation: Operation; parsed: ParsedFlags; settings: GlobalOptions },
  open: () => Promise<GatewayClient>,
  io: Io,
): Promise<number> {
  const { files: paths, ...given } = parsed.input
  const named = Array.isArray(paths) ? { ...given, ...(await readConfigurationFiles(paths.map(String), io)) } : given
  const input = await completeInput(operation, { ...parsed, input: named }, io)
  await checkInput(operation, input)
  const run = runs[operation.name]
  if (run === undefined) throw new Error(`${operation.name} is no command of configuration files`)
  return await run({ gateway: await open(), input, settings, io })
}

async function diff({ gateway, input, settings, io }: ConfigurationRun): Promise<number> {
  const plan = (await gateway.call(['diff'], input)) as ConfigurationPlan
  refuseProblems(plan)
  if (settings.output !== 'table') {
    await io.stdout.write(await renderDocument(settings.output, undefined, plan.changes))
    for (const note of plan.notes) await io.stderr.write(`Note: ${note}.\n`)
    return exitStatus.done
  }
  await io.stdout.write(renderPlan(plan, makePaint(wantsColour(io.stdout, io.environment))))
  return exitStatus.done
}

/** The plan that was shown is the one that is applied, or none: the gateway refuses any other. */
async function apply({ gateway, input, settings, io }: ConfigurationRun): Promise<number> {
  const { skipCheck, expect: _, ...wanted } = input
  const plan = (await gateway.call(['diff'], wanted)) as ConfigurationPlan
  refuseProblems(plan)
  refuseUnset(plan)
  await io.stderr.write(renderPlan(plan, makePaint(wantsColour(io.stderr, io.environment))))
  if (plan.changes.length > 0) await agree(plan, settings, io)
  const progress = plan.changes.length > 0 && io.stderr.isTerminal
  if (progress) await io.stderr.write(skipCheck === true ? 'Applying …' : 'Checking and applying …')
  try {
    const applied = (await gateway.call(['apply'], { ...input, expect: plan.expect })) as AppliedConfiguration
    if (progress) await io.stderr.write('\r\u001b[K')
    await showApplied(applied, settings, io)
    return exitStatus.done
  } catch (error) {
    if (progress) await io.stderr.write('\r\u001b[K')
    throw error
  }
}

function refuseProblems({ problems }: ConfigurationPlan): void {
  refuseAll(problems, 'Nothing was changed. Fix the files, then check them: spgw diff -f FILE')
}

function refuseUnset({ unset }: ConfigurationPlan): void {
  refuseAll(unset, 'Nothing was changed. Set the variables in this shell, or fill the files, and apply again.')
}

/** All of them have to be fixed, so all are shown. */
function refuseAll(problems: readonly PlanProblem[], hint: string): void {
  if (problems.length === 0) return
  const text = problems.map(({ place, message }) => `${place}: ${message}`).join('\n')
  throw Object.assign(usageFault(text, hint), { problems })
}

/** On a terminal the plan is a dry run until somebody agrees; elsewhere only `--yes` does. */
async function agree({ changes, owner }: ConfigurationPlan, { yes }: GlobalOptions, io: Io): Promise<void> {
  if (yes) return
  const count = countChanges(changes, toDo)
  if (!canAsk(io))
    throw usageFault(
      `Confirmation required: ${count}.`,
      'Add --yes to apply. To see the changes only: spgw diff -f FILE',
    )
  const removes = changes.some(({ action }) => action === 'remove')
  const agreed = removes
    ? (await io.prompter.ask(`Type ${owner} to confirm`, { required: false })).trim() === owner
    : await io.prompter.confirm('Apply these changes?')
  if (!agreed) throw new CommandFault('Nothing was changed.', 'Run the command again to confirm it.', exitStatus.failed)
}

async function showApplied(applied: AppliedConfiguration, settings: GlobalOptions, io: Io): Promise<void> {
  if (settings.output !== 'table') return io.stdout.write(await renderDocument(settings.output, undefined, applied))
  const { changes, keys, alerts = [], checked } = applied
  if (changes.length > 0) {
    const asked = checked.length === 0 ? '' : ` Checked: ${checked.join(', ')}.`
    await io.stderr.write(`Applied: ${countChanges(changes, done)}.${asked}\n`)
  }
  const missing = describeMissing('apply', applied)
  if (missing !== null) await io.stderr.write(`${escapeControls(missing)}\n`)
  if (alerts.length > 0) await io.stderr.write('Signing secrets of new alerts, shown only once:\n')
  for (const { name, secret } of alerts) await io.stdout.write(`${name} ${secret}\n`)
  if (keys.length === 0) return
  await io.stderr.write('New keys, shown only once:\n')
  for (const { project, environment, name, key } of keys)
    await io.stdout.write(`${project}/${environment}/${name} ${key}\n`)
}

async function writeExport({ gateway, input, settings, io }: ConfigurationRun): Promise<number> {
  if (settings.output === 'csv')
    throw usageFault('A configuration cannot be written as CSV.', 'Leave --output out for YAML, or use --json.')
  const { text, document } = (await gateway.call(['export'], input)) as { text: string; document: object }
  const isJson = settings.output === 'json'
  await io.stdout.write(isJson ? await renderDocument('json', undefined, document) : text)
  return exitStatus.done
}
