import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endChildrenWithUs } from './children.ts'
import { type Order, readOrder } from './command-line.ts'
import { measureCpu } from './cpu.ts'
import { writeDocument } from './document.ts'
import { listMissing, type Machine, readMachine } from './machine.ts'
import { measureRound } from './measure.ts'
import { startMock } from './mock.ts'
import { parts } from './parts/index.ts'
import { prepare } from './prepare.ts'
import { profile } from './profile.ts'
import { missesMust, renderAims, renderFigures } from './report.ts'
import { Results } from './results.ts'

const place = join(import.meta.dirname, '../../.build/bench')

async function main(): Promise<number> {
  const order = readOrder()
  endChildrenWithUs()
  const machine = readMachine()
  for (const line of listMissing(machine)) process.stderr.write(`${line}\n`)
  await mkdir(place, { recursive: true })
  const directory = await mkdtemp(join(place, 'run-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const mock = await startMock(machine, directory)
  if (order.form === 'profile') return await profile({ machine, mock, directory, seconds: order.seconds })
  const bench = await prepare(order, machine, mock, place, directory)
  if (order.form === 'cpu') {
    process.stdout.write(`\n${await measureCpu(bench, order.load, order.rounds)}\n`)
    return 0
  }
  const chosen = parts.filter(({ name, fullOnly }) => order.part?.test(name) ?? (order.form === 'full' || !fullOnly))
  const results = new Results()
  for (let round = 0; round < order.rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${order.rounds}\n`)
    await measureRound(bench, chosen, results, round)
  }
  return await conclude(results, machine, order)
}

async function conclude(results: Results, machine: Machine, { form, rounds, write }: Order): Promise<number> {
  const tables = [renderFigures(results), renderAims(results)]
  const title = `${new Date().toISOString().slice(0, 10)}, ${machine.description}, Node ${process.version.slice(1)}; ${form} form, medians of ${rounds} round(s)`
  process.stdout.write(`\n${title}\n\n${tables.join('\n\n')}\n`)
  for (const { target, part, reason } of results.troubles)
    process.stdout.write(`\nno figure for ${part} of ${target}: ${reason}\n`)
  await writeFile(
    join(place, 'last.json'),
    `${JSON.stringify({ title, form, rounds, ...results.toJSON() }, null, 2)}\n`,
  )
  if (write) await writeDocument(title, tables)
  return results.troubles.length > 0 || missesMust(results) ? 1 : 0
}

process.exit(await main())
