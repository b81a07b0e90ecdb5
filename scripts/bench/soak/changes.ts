import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { smallCall } from '../calls.ts'
import { stop } from '../children.ts'
import { newAgent } from '../client.ts'
import type { SpgwTarget } from '../spgw.ts'
import { statusOf } from './actors.ts'

/** What an operator does meanwhile, through the command line. */
export interface Operator {
  /** Rounds of changes, each of which was seen to take effect. */
  rounds: number
  faults: string[]
  /** Lines that the one who follows the requests has read. */
  linesRead: number
  stop(): Promise<void>
}

const pauseMs = 15_000
/** With the key, before and after it is revoked. */
export const requestsPerChange = 2

/** Follows the requests all the time, and changes the configuration every 15 s. */
export function startOperator(target: SpgwTarget): Operator {
  const ending = new AbortController()
  const tail = target.follow('requests tail --json')
  const operator: Operator = {
    rounds: 0,
    faults: [],
    linesRead: 0,
    async stop() {
      ending.abort()
      await working
      await stop(tail)
    },
  }
  createInterface({ input: tail.stdout! }).on('line', () => operator.linesRead++)
  tail.stderr?.resume()
  tail.once('exit', (status) => ending.signal.aborted || operator.faults.push(`requests tail ended with ${status}`))
  const work = async () => {
    for (let turn = 1; !ending.signal.aborted; turn++) {
      await changeOnce(target, turn).then(
        () => operator.rounds++,
        (error: unknown) => operator.faults.push(String(error)),
      )
      await sleep(pauseMs, null, { signal: ending.signal }).catch(() => {})
    }
  }
  const working = work()
  return operator
}

/** A key that works from the moment it is made to the moment it is revoked; a route and a policy that change. */
async function changeOnce(target: SpgwTarget, turn: number): Promise<void> {
  const created = await target.runCommand(`keys create --name soak-${turn} --policy bench --json`)
  const authorization = `Bearer ${/sp_live_\w+/.exec(created)?.[0] ?? ''}`
  await expectStatus(target, authorization, 200)
  await target.runCommand(`routes edit bench-flaky --retries ${2 + (turn % 2)}`)
  await target.runCommand(`policies edit bench --max-body ${20 + (turn % 2)}MB`)
  await target.runCommand('requests list --json')
  await target.runCommand(`keys revoke soak-${turn}`)
  await expectStatus(target, authorization, 401)
  await target.runCommand(`keys remove soak-${turn}`)
}

async function expectStatus(target: SpgwTarget, authorization: string, status: number): Promise<void> {
  const agent = newAgent()
  try {
    const found = await statusOf(agent, target, smallCall(), { authorization })
    if (found !== status) throw new Error(`a key that was changed was answered ${found} instead of ${status}`)
  } finally {
    agent.destroy()
  }
}
