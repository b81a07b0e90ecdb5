import { isDeepStrictEqual } from 'node:util'
import type { FormatName } from '../../../src/core/format.ts'
import {
  isObject,
  type JsonObject,
  type MockAnswer,
  type MockCall,
  type MockUsage,
  reported,
  streamAnswer,
  wholeAnswer,
} from '../mock-format.ts'
import type { Script } from '../mock-script.ts'
import type { Facet, SceneClient, Step } from './clients/client.ts'
import { facetsOf, isNamed } from './facets.ts'
import type { Case } from './features.ts'
import { Refused } from './refused.ts'
import { assistant, type Got, piecesOf, type Reply, type Scene, textOf, user } from './scene.ts'
import type { Upstream } from './upstreams.ts'
import type { WireWatch } from './wire-watch.ts'

/** What became of one case. `problems`: what is neither as it should be nor named as lost: a fault of the gateway. */
export interface Outcome {
  kind: 'pass' | 'loss' | 'refused' | 'absent'
  names: readonly string[]
  problems: readonly string[]
}

export interface Cell {
  client: FormatName
  driver: SceneClient
  upstream: Upstream
  streamed: boolean
  wire: WireWatch
}

const usage = { input: 190, output: 70, cached: 50, reasoning: 30 }

/** Asks as the case says, and compares both sides: what reached the provider, and what the SDK made of the answer. */
export async function runCase(cell: Cell, one: Case): Promise<Outcome> {
  const { driver, streamed } = cell
  const isOutside = one.trouble === 'stream' && !streamed
  if (isOutside || (one.about !== undefined && driver.cannot.has(one.about))) return absent
  if (one.trouble !== undefined) return runTrouble(cell, one, one.trouble)
  const run = new CaseRun(cell, one)
  try {
    await run.play()
  } catch (error) {
    return run.refused(error)
  }
  return run.outcome()
}

const absent: Outcome = { kind: 'absent', names: [], problems: [] }

class CaseRun {
  readonly #cell: Cell
  readonly #case: Case
  /** What the provider read. */
  readonly #seen: Scene[] = []
  readonly #losses = new Set<string>()
  readonly #problems: string[] = []
  /** Why the provider took a request not. */
  #refusal: string | null = null

  constructor(cell: Cell, one: Case) {
    this.#cell = cell
    this.#case = one
  }

  async play(): Promise<void> {
    const { driver, streamed, wire, upstream } = this.#cell
    const { scene, replies, results = [] } = this.#case
    const model = modelOf(upstream, this.#case)
    for (const reply of replies)
      upstream.mock.next({ ...upstream.path, answerWith: (...call) => this.#answer(reply, ...call) })
    if (replies.length > 1 && driver.loop !== undefined && this.#case.model === undefined) {
      const all = await driver.loop({ model, scene, streamed, steps: [] }, results)
      this.#takeLosses()
      for (const [index, reply] of replies.entries()) this.#compareGot(all[index], reply)
    } else {
      const steps: Step[] = []
      for (const reply of replies) {
        const { got, raw } = await driver.ask({ model, scene, streamed, steps })
        this.#takeLosses()
        this.#compareGot(got, reply)
        steps.push({ raw, results })
      }
    }
    for (const [index, seen] of this.#seen.entries()) this.#compareSeen(seen, this.#sceneAt(index))
    if (this.#seen.length !== replies.length) this.#problems.push(`${this.#seen.length} requests reached the provider`)
    if (wire.last.status !== 200) this.#problems.push(`the status is ${wire.last.status}`)
  }

  refused(error: unknown): Outcome {
    this.#cell.upstream.mock.reset()
    const { headers, body } = this.#cell.wire.last
    const code = headers.get('x-sp-error')
    const param = /not_translatable/.test(code ?? '') ? paramOf(body) : null
    if (this.#refusal !== null || code === 'provider_error') {
      // A request in the provider's own format passes as it is, and it is the provider's to refuse it.
      const passes = this.#cell.client === this.#cell.upstream.format
      const problem = `the provider refused the request: ${this.#refusal ?? String(error)}`
      return { kind: 'refused', names: ['by the provider'], problems: passes ? [] : [problem] }
    }
    if (code === 'not_translatable') return { kind: 'refused', names: [`${code}: ${param}`], problems: this.#problems }
    return { kind: 'refused', names: [String(code)], problems: [`it failed: ${String(error)}`] }
  }

  outcome(): Outcome {
    const names = [...this.#losses].sort()
    return { kind: names.length === 0 ? 'pass' : 'loss', names, problems: this.#problems }
  }

  #answer(reply: Reply, call: MockCall, body: JsonObject, figures: MockUsage): MockAnswer {
    const { provider, mock } = this.#cell.upstream
    try {
      this.#seen.push(provider.read(body))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.#refusal = error.message
      return mock.format.error(400, error.message, call.number)
    }
    return answerOf(this.#cell.upstream, reply, { call, body, figures })
  }

  #takeLosses(): void {
    for (const name of this.#cell.wire.takeLosses()) this.#losses.add(name)
  }

  /** The scene as it stands when the provider is asked for the reply of this index. */
  #sceneAt(index: number): Scene {
    const { scene, replies, results = [] } = this.#case
    const { seal } = this.#cell.upstream.provider
    const turns = replies.slice(0, index).flatMap(({ pieces }) => {
      const sealed = pieces.map((piece) => (piece.kind === 'thought' ? { ...piece, seal } : piece))
      return [assistant(...sealed), user(...results)]
    })
    return { ...scene, turns: [...scene.turns, ...turns] }
  }

  #compareSeen(seen: Scene, wanted: Scene): void {
    const { cannot } = this.#cell.driver
    const [arrived, asked] = [facetsOf(seen), facetsOf(wanted)]
    for (const facet of Object.keys(asked) as Facet[]) {
      if (asked[facet] === undefined || cannot.has(facet) || isDeepStrictEqual(asked[facet], arrived[facet])) continue
      if (isNamed(facet, [...this.#losses])) continue
      this.#problems.push(
        `${facet} arrived as ${JSON.stringify(arrived[facet])} and not as ${JSON.stringify(asked[facet])}`,
      )
    }
  }

  #compareGot(got: Got | undefined, reply: Reply): void {
    const { upstream, client } = this.#cell
    if (got === undefined) return void this.#problems.push('the SDK has no such answer')
    const same = (what: string, is: unknown, should: unknown) => {
      if (!isDeepStrictEqual(is, should))
        this.#problems.push(`the SDK got ${what} ${JSON.stringify(is)} and not ${JSON.stringify(should)}`)
    }
    const callsOf = ({ pieces }: Reply) => piecesOf([{ pieces }], 'call')
    same('the text', textOf(got.pieces), textOf(reply.pieces))
    same('the calls', callsOf(got), callsOf(reply))
    same('the finish', got.finish, reply.finish)
    same('the usage', got.usage, usage)
    // OpenAI shows what it thinks to clients of responses only.
    const hides = upstream.name === 'openai chat' || (upstream.name === 'other vendor' && client === upstream.format)
    if (!hides) same('the thought', textOf(got.pieces, 'thought'), textOf(reply.pieces, 'thought'))
  }
}

function modelOf({ name }: Upstream, { model }: Case): string {
  return routeName(name, model ?? 'usual')
}

export function routeName(upstream: string, model: keyof Upstream['models']): string {
  return `${upstream.replace(' ', '-')}-${model}`
}

interface Answering {
  call: MockCall
  body: JsonObject
  figures: MockUsage
}

function answerOf({ provider, format }: Upstream, reply: Reply, { call, body, figures }: Answering): MockAnswer {
  const streamed = format === 'generate' ? call.path.includes('streamGenerate') : body.stream === true
  const type = (value: string): [string, string][] => [['Content-Type', value]]
  const used = reported({ ...figures, cacheWrite: format === 'messages' ? figures.cacheWrite : 0 })
  if (streamed) return streamAnswer(type('text/event-stream'), provider.events(reply, body, figures), used)
  return wholeAnswer(200, type('application/json'), JSON.stringify(provider.whole(reply, body, figures)), used)
}

/** Before which of its events a provider's stream has said half of a text. */
const midStream: Record<FormatName, number> = { chat: 2, responses: 5, messages: 4, generate: 1 }

/** A stream in whose midst the provider says that it failed. */
function brokenStream(upstream: Upstream, reply: Reply): Script {
  return {
    answerWith: (call, body, figures) => answerOf(upstream, reply, { call, body, figures }),
    errorEventAfter: midStream[upstream.format],
  }
}

async function runTrouble(cell: Cell, one: Case, trouble: NonNullable<Case['trouble']>): Promise<Outcome> {
  const { driver, upstream, streamed } = cell
  const { scene, replies } = one
  const [reply] = replies
  const model = modelOf(upstream, one)
  const status = { invalid: 400, overloaded: 429, stream: 200 }[trouble]
  const { path, mock } = upstream
  if (trouble !== 'stream' || reply === undefined) mock.next({ ...path, status })
  else mock.next({ ...path, ...brokenStream(upstream, reply) })
  try {
    await driver.ask({ model, scene, streamed, steps: [] })
  } catch (error) {
    return { kind: 'pass', names: [], problems: problemsOf(error, status) }
  }
  return { kind: 'pass', names: [], problems: ['the SDK took the error for an answer'] }
}

/** An error with the provider's words, and with its status where there is one. */
function problemsOf(error: unknown, status: number): string[] {
  if (!(error instanceof Error)) return ['it is no Error']
  const said = error.message.includes('scripted')
    ? []
    : [`the error does not say what the provider said: ${error.message}`]
  const given = 'status' in error ? error.status : undefined
  return status === 200 || given === status ? said : [...said, `the error has the status ${String(given)}`]
}

/** The field at fault, in whichever place the format has for it. */
function paramOf(body: string): string {
  const { error } = JSON.parse(body)
  const details: unknown[] = Array.isArray(error.details) ? error.details : [error.details]
  const violated = details.flatMap((detail) => {
    const { fieldViolations = [], field } = { ...(isObject(detail) && detail) } as JsonObject
    const violations = fieldViolations as { field: string }[]
    return field === undefined ? violations.map((violation) => violation.field) : [String(field)]
  })
  return String(error.param ?? error.details?.param ?? violated[0])
}
