import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorText } from '../../src/core/caught.ts'
import { bundle } from '../bundle.ts'
import { answerCases } from './answers.ts'
import type { HostileCase } from './case.ts'
import { messageCases } from './messages.ts'
import { operationCases } from './operations.ts'
import { requestCases } from './requests.ts'
import { HostileStage } from './stage.ts'
import type { Worst } from './turns.ts'

/** A turn that is longer is a defect. */
export const limitMs = 250

const records = 50_000

export interface Result {
  area: string
  name: string
  outcome: string
  seconds: number
  worst: Worst
}

const all: readonly HostileCase[] = [...requestCases, ...answerCases, ...messageCases, ...operationCases]

export interface RunOptions {
  /** The cases of the sample, or those that fit; default: all. */
  sample?: boolean
  /** The script of a bundled gateway; default: one that is made for this. */
  script?: string
  only?: RegExp
  onResult?(result: Result): void
}

/** Runs each case against one bundled gateway, one after the other. */
export async function runHostile({ sample = false, script, only, onResult }: RunOptions): Promise<Result[]> {
  const directory = await mkdtemp(join(tmpdir(), 'spgw-hostile-'))
  const turns = join(directory, 'turns')
  await mkdir(turns)
  if (script === undefined) await bundle(join(directory, 'bundle'))
  const program = { command: process.execPath, leading: [script ?? join(directory, 'bundle/main.js')] }
  const dataDirectory = join(directory, 'data')
  if (!sample) fillRecords(dataDirectory)
  const stage = new HostileStage({ program, turns, dataDirectory })
  try {
    await stage.open()
    const results: Result[] = []
    for (const one of all) {
      if (sample && !one.sample) continue
      if (only !== undefined && !only.test(`${one.area}: ${one.name}`)) continue
      const result = await runCase(stage, one)
      results.push(result)
      onResult?.(result)
      if (stage.over) throw new Error(`The gateway ended with ${one.area}: ${one.name}\n${stage.output}`)
    }
    return results
  } finally {
    await stage.close()
    await rm(directory, { recursive: true, force: true })
  }
}

/** For filters, sums and exports. */
function fillRecords(dataDirectory: string): void {
  const script = join(import.meta.dirname, '../fill-records.ts')
  const flags = ['--data-dir', dataDirectory, '--records', String(records)]
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, ...flags], { stdio: 'ignore' })
}

async function runCase(stage: HostileStage, { area, name, run }: HostileCase): Promise<Result> {
  await stage.heal()
  const begun = Date.now()
  const outcome = await run(stage).catch(errorText)
  const seconds = (Date.now() - begun) / 1000
  return { area, name, outcome, seconds, worst: await stage.worstSince(begun) }
}
