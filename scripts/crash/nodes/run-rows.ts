import type { GatewayProgram } from '../../../test/support/gateway.ts'
import type { FaultRow, RowOptions } from './fault-row.ts'
import { NodeScene } from './node-scene.ts'
import { batches } from './rows/batches.ts'
import { budgets } from './rows/budgets.ts'
import { changes } from './rows/changes.ts'
import { clock } from './rows/clock.ts'
import { cutOff } from './rows/cut-off.ts'
import { failover } from './rows/failover.ts'
import { kill } from './rows/kill.ts'
import { move } from './rows/move.ts'
import { newerFirst } from './rows/newer-first.ts'
import { objects } from './rows/objects.ts'
import { postgresAway } from './rows/postgres-away.ts'
import { remove } from './rows/remove.ts'
import { revoke } from './rows/revoke.ts'
import { standby } from './rows/standby.ts'
import { valkey } from './rows/valkey.ts'
import { versions } from './rows/versions.ts'

const rows: readonly FaultRow[] = [
  kill,
  postgresAway,
  failover,
  standby,
  valkey,
  cutOff,
  clock,
  objects,
  batches,
  revoke,
  changes,
  versions,
  newerFirst,
  budgets,
  move,
  remove,
]

interface RowsOptions {
  /** Names of rows; none: all. */
  names: readonly string[]
  executable: string
  tests: GatewayProgram
  seed: number
  clients: number
  /** null: as often as is usual for each. */
  times: number | null
  other: string | null
  report(line: string): void
}

interface RowResult {
  name: string
  fault: string
  figures: Record<string, string | number>
  records: number
  lost: number
  doubled: number
  wrong: number
  problems: string[]
  seconds: number
}

const rowNames = rows.map(({ name }) => name)

/** Rows of the fault table, one after the other, each on nodes and servers of its own. */
export async function runRows(options: RowsOptions): Promise<RowResult[]> {
  const { names, report } = options
  const unknown = names.filter((name) => !rowNames.includes(name))
  if (unknown.length > 0) throw new RangeError(`no row ${unknown.join(', ')}: there are ${rowNames.join(', ')}`)
  const results: RowResult[] = []
  for (const row of rows.filter(({ name }) => names.length === 0 || names.includes(name))) {
    report(`${row.name}: ${row.fault}`)
    const result = await runRow(row, options)
    for (const problem of result.problems) report(`  ${problem}`)
    results.push(result)
  }
  return results
}

async function runRow(row: FaultRow, options: RowsOptions): Promise<RowResult> {
  const begun = performance.now()
  const { seed, tests, clients, report, executable, other } = options
  const { name, fault, names } = row
  const result = { name, fault, figures: {}, records: 0, lost: 0, doubled: 0, wrong: 1, problems: [] as string[] }
  const seconds = () => Math.round((performance.now() - begun) / 1000)
  try {
    process.env.SPGW_TEST_EXECUTABLE = (row.foundedByOther === true ? other : null) ?? executable
    const scene = await NodeScene.set({ seed, tests, clients, ...(names === undefined ? {} : { names }) })
    process.env.SPGW_TEST_EXECUTABLE = executable
    const { figures, records } = await play(row, scene, options)
    const { lost, doubled, wrong } = scene.account.counts
    const { problems } = scene.account
    const done = { ...result, figures, records, lost, doubled, wrong, problems, seconds: seconds() }
    report(renderRows([done]))
    return done
  } catch (error) {
    return { ...result, problems: [describe(error)], seconds: seconds() }
  }
}

async function play(row: FaultRow, scene: NodeScene, { times, other, report }: RowsOptions) {
  const endAtOnce = () => scene.endAtOnce()
  process.once('exit', endAtOnce)
  const rowOptions: RowOptions = { times: times ?? row.usual, other, report }
  let [figures, records]: [Record<string, string | number>, number] = [{}, 0]
  try {
    figures = await row.run(scene, rowOptions)
    records = (await scene.verify()).records
  } catch (error) {
    scene.problem(describe(error))
  } finally {
    await scene.close()
    process.off('exit', endAtOnce)
  }
  return { figures, records }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

export function renderRows(results: readonly RowResult[]): string {
  return [
    '| fault | records | lost | doubled | wrong | seen | s |',
    '|---|---:|---:|---:|---:|---|---:|',
    ...results.map(({ fault, figures, records, lost, doubled, wrong, seconds }) => {
      const seen = Object.entries(figures).map(([name, value]) => `${name}: ${value}`)
      return `| ${fault} | ${records} | ${lost} | ${doubled} | ${wrong} | ${seen.join('; ')} | ${seconds} |`
    }),
  ].join('\n')
}
