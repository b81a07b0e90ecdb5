import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import { readFlags } from '../read-flags.ts'
import { runBudgetCrashes } from './budgets.ts'
import { runLimits } from './limits.ts'
import { measureRevoking } from './revoking.ts'
import { type CrashResult, runCrashes } from './run.ts'
import { renderCases, simulateCases, simulateHostile } from './shared-budgets/table.ts'

const help = `npm run crash [-- SUBJECT] [flags]

Kills the packaged gateway again and again while requests run, and checks what it left. docs/reliability.md says what each proves.

  npm run crash                     every id that a client saw stands exactly once (--kills 100, --seed N)
  npm run crash -- budgets          budgets and limits to the nano-dollar (--kills 5, --clients 200, --seed N)
  npm run crash -- nodes [ROW …]    three nodes, PostgreSQL and Valkey: the fault table (--clients 4, --times N, --seed N);
                                    rows: kill, postgres-away, failover, standby, valkey, cut-off, clock, objects, batches,
                                    revoke, changes, versions, newer-first, budgets, move, remove
  npm run crash -- cluster          shared budgets in simulated time (--runs 10000, --seed 1)
  npm run crash -- limits           shared limits in simulated time (--runs 20, --seed 1)
  npm run crash -- revoking         how fast all nodes refuse a revoked key (--runs 100)

  --executable FILE   this one, instead of packaging the tree
  --other FILE        an older one, for the row of mixed versions
`

async function main(): Promise<number> {
  const { values, positionals } = readFlags(help, {
    allowPositionals: true,
    options: {
      kills: { type: 'string' },
      clients: { type: 'string' },
      seed: { type: 'string' },
      executable: { type: 'string' },
      runs: { type: 'string' },
      times: { type: 'string' },
      other: { type: 'string' },
    },
  })
  const [subject, ...more] = positionals
  if (subject === 'nodes') return await breakNodes(more, values)
  if (subject === 'cluster') return simulateCluster(Number(values.runs ?? 10_000), Number(values.seed ?? 1))
  if (subject === 'limits') return simulateLimits(Number(values.runs ?? 20), Number(values.seed ?? 1))
  if (subject === 'revoking') {
    const { table, missed } = await measureRevoking(Number(values.runs ?? 100))
    process.stdout.write(table)
    return missed > 0 ? 1 : 0
  }
  const forBudgets = subject === 'budgets'
  const kills = Number(values.kills ?? (forBudgets ? 5 : 100))
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const executable = join(values.executable ?? (await packageExecutable()))
  const begun = performance.now()
  if (forBudgets) {
    const onRun = (done: number, problems: number) =>
      process.stderr.write(`${done} of ${kills} kills, ${problems} problems\n`)
    const result = await runBudgetCrashes({ kills, seed, clients: Number(values.clients ?? 200), executable, onRun })
    process.stdout.write(`${JSON.stringify(result, null, 2)}\n${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
    return result.problems.length > 0 ? 1 : 0
  }
  const onKill = (done: number, problems: number) => {
    if (done % 20 === 0) process.stderr.write(`${done} of ${kills} kills, ${problems} problems\n`)
  }
  const result = await runCrashes({ kills, seed, executable, onKill })
  process.stdout.write(`${renderResult(result)}\n${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  return result.problems.length + result.missed.length > 0 ? 1 : 0
}

/** Real nodes, and what is done to them and to their servers: a row of the fault table each. */
async function breakNodes(
  names: readonly string[],
  values: Partial<Record<'seed' | 'clients' | 'times' | 'other' | 'executable', string>>,
): Promise<number> {
  const { runRows, renderRows } = await import('./nodes/run-rows.ts')
  const tests = join(import.meta.dirname, '../../.build/crash-bundle')
  // Only there a node dies at fault points.
  if (names.length === 0 || names.includes('kill')) await bundle(tests, { forTests: true })
  const results = await runRows({
    names,
    executable: join(values.executable ?? (await packageExecutable())),
    tests: { command: process.execPath, leading: [join(tests, 'main.js')] },
    seed: Number(values.seed ?? Date.now() % 1_000_000),
    clients: Number(values.clients ?? 4),
    times: values.times === undefined ? null : Number(values.times),
    other: values.other ?? null,
    report: (line) => process.stderr.write(`${line}\n`),
  })
  process.stdout.write(`${renderRows(results)}\n`)
  return results.some(({ problems }) => problems.length > 0) ? 1 : 0
}

/** Budgets that nodes share, in simulated time: whether any was overspent, and what the faults cost otherwise. */
function simulateCluster(runs: number, seed: number): number {
  const begun = performance.now()
  const failed = simulateHostile(runs, seed)
  process.stdout.write(`${runs} runs, ${failed.length} overspent${failed.map((one) => ` ${one}`).join('')}\n\n`)
  process.stdout.write(`${renderCases(simulateCases(5))}\n${((performance.now() - begun) / 1000).toFixed(0)} s\n`)
  return failed.length > 0 ? 1 : 0
}

function simulateLimits(runs: number, seed: number): number {
  const { table, above } = runLimits({ runs, seed })
  process.stdout.write(table)
  return above > 0 ? 1 : 0
}

function renderResult({ kills, counts, ...result }: CrashResult): string {
  const rows: [string, number | string][] = [
    ...Object.entries(kills).map(([kind, count]): [string, number] => [`kills ${kind}`, count]),
    ['kills', Object.values(kills).reduce((sum, count) => sum + count, 0)],
    ['points not reached', result.missed.join(', ') || 'none'],
    ['requests', counts.requests],
    ['ids that a client saw', counts.ids],
    ['ids checked', counts.checked],
    ['of these, sharing a record', counts.shared],
    ['lost', counts.lost],
    ['doubled', counts.doubled],
    ['otherwise wrong', counts.wrong],
    ['records settled', counts.settled],
    ['records interrupted', counts.interrupted],
    ['tokens of the interrupted', result.interruptedTokens],
    ['tokens served, in and out', `${result.served.input} ${result.served.output}`],
    ['tokens recorded, in and out', `${result.recorded.input} ${result.recorded.output}`],
    ['changes acknowledged', result.acknowledgedChanges],
  ]
  const kept = result.directory === null ? [] : [`kept: ${result.directory} (seed ${result.seed})`]
  return [
    `seed ${result.seed}`,
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    ...result.problems,
    ...kept,
  ].join('\n')
}

// Gateways end with this process, however it ends (gateway.ts).
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.exit(await main())
