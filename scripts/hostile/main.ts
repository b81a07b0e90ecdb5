import { writeDocument } from '../bench/document.ts'
import { describeMachine } from '../bench/machine.ts'
import { renderTable } from '../bench/report.ts'
import { readFlags } from '../read-flags.ts'
import { limitMs, type Result, runHostile } from './run.ts'
import { threadNames } from './turns.ts'

const help = `npm run hostile [-- --only PATTERN] [--sample] [--write]

Sends inputs that are made to be dear to every parser of a running gateway, and measures the longest turn of each of its threads.
docs/reliability.md says what it proves.

  --only PATTERN   only inputs whose area or name matches: --only 'multipart|patterns'
  --sample         few of each area
  --write          put the result into docs/reliability.md
`

async function main(): Promise<number> {
  const { values } = readFlags(help, {
    options: {
      only: { type: 'string' },
      sample: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
    },
  })
  const begun = performance.now()
  const results = await runHostile({
    sample: values.sample,
    ...(values.only === undefined ? {} : { only: new RegExp(values.only) }),
    onResult: (result) => process.stdout.write(`${renderLine(result)}\n`),
  })
  const seconds = ((performance.now() - begun) / 1000).toFixed(0)
  const table = renderAreas(results)
  process.stdout.write(`\n${table}\n\n${results.length} inputs, ${seconds} s\n`)
  const slow = results.filter((result) => worstOf(result) > limitMs)
  for (const result of slow) process.stdout.write(`over ${limitMs} ms: ${renderLine(result)}\n`)
  const title = `${new Date().toISOString().slice(0, 10)}, ${describeMachine()}, Node ${process.versions.node}; ${results.length} inputs in ${seconds} s`
  if (values.write) await writeDocument('hostile', title, [table])
  return slow.length > 0 ? 1 : 0
}

/** Milliseconds of CPU time of the worst turn on any thread. */
function worstOf({ worst }: Result): number {
  return Math.max(0, ...Object.values(worst).map((turn) => turn?.cpuMs ?? 0))
}

function renderLine(result: Result): string {
  const { area, name, outcome, seconds, worst } = result
  const turns = threadNames.map((thread) => {
    const turn = worst[thread]
    return turn === undefined ? '    -    ' : `${turn.cpuMs.toFixed(0).padStart(4)}/${turn.ms.toFixed(0).padEnd(4)}`
  })
  return `${turns.join(' ')} ${seconds.toFixed(1).padStart(5)} s  ${area}: ${name}  [${outcome}]`
}

/** A line for each parser: its worst turn on each thread, and the input that caused the worst of these. */
function renderAreas(results: readonly Result[]): string {
  const areas = Map.groupBy(results, ({ area }) => area)
  const rows = [...areas].map(([area, own]) => {
    const turns = threadNames.map((thread) => Math.max(0, ...own.map(({ worst }) => worst[thread]?.cpuMs ?? 0)))
    const [first] = own.toSorted((one, other) => worstOf(other) - worstOf(one))
    return [area, String(own.length), ...turns.map((ms) => ms.toFixed(0)), first?.name ?? '']
  })
  return renderTable(['parser', 'inputs', ...threadNames, 'the worst input'], rows)
}

process.exit(await main())
