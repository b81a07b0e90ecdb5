import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { FormatName } from '../../src/core/format.ts'
import { packageExecutable } from '../package.ts'
import { type Agent, agents } from './agents.ts'
import { install } from './install.ts'
import { type Outcome, runAgent } from './run.ts'
import { type Upstream, upstreams } from './upstreams.ts'

/*
 * `npm run agents [-- --on FORMAT|own] [--verbose] [NAME…]`: real clients in their current versions, with the settings that
 * `connect --write` made, through the packaged gateway: a question to the demo provider in their own format, and a file that
 * models of other vendors edit with the client's tools. Installs what is missing below `.build/clients`, which takes
 * gigabytes and the network: so it is no part of `npm test`.
 */

const { values, positionals } = parseArgs({
  options: { on: { type: 'string' }, verbose: { type: 'boolean' }, directory: { type: 'string' } },
  allowPositionals: true,
})
const directory = resolve(values.directory ?? '.build/clients')

/** OpenAI has responses itself: it is asked for chat by those that speak neither. */
function isForeign({ on }: Agent, format: FormatName, upstream: Upstream): boolean {
  if (upstream.format === format || on?.includes(upstream.format) === false) return false
  return format !== 'responses' || upstream.kind !== 'openai'
}

function report(what: string, { problems, losses, requests, reasoning, tookMs, output }: Outcome): void {
  const signed = reasoning === '' ? '' : `, reasoning ${reasoning}`
  const lines = [
    `${problems.length === 0 ? 'ok  ' : 'FAIL'}  ${what}  ${(tookMs / 1000).toFixed(1)} s, ${requests} requests${signed}`,
    ...(losses.length === 0 ? [] : [`      lost: ${losses.join(', ')}`]),
    ...problems.map((problem) => `      ${problem}`),
    ...(values.verbose || problems.length > 0 ? [output.slice(-3000)] : []),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function runAll(name: string, agent: Agent): Promise<boolean> {
  const installed = await install(join(directory, name), agent.packages)
  let all = true
  for (const format of agent.formats) {
    const foreign = upstreams.filter((upstream) => isForeign(agent, format, upstream))
    for (const upstream of [null, ...foreign]) {
      if ((values.on ?? upstream?.format ?? 'own') !== (upstream?.format ?? 'own')) continue
      const outcome = await runAgent({ agent, installed, format, upstream })
      const to = upstream === null ? '(own format)' : `→ ${upstream.format} (${upstream.model})`
      report(`${name} ${installed.version}  ${format} ${to}`, outcome)
      all &&= outcome.problems.length === 0
    }
  }
  return all
}

process.env.SPGW_TEST_EXECUTABLE ??= await packageExecutable()
let all = true
for (const name of positionals.length === 0 ? Object.keys(agents) : positionals) {
  const agent = agents[name]
  if (agent === undefined) throw new Error(`${name} is none of ${Object.keys(agents).join(', ')}.`)
  // One that cannot be installed today says nothing about the others.
  const passed = await runAll(name, agent).catch((error: Error) => {
    process.stdout.write(`FAIL  ${name}: ${error.message}\n`)
    return false
  })
  all = passed && all
}
process.exitCode = all ? 0 : 1
