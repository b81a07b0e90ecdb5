import type { FormatName } from '../../src/core/format.ts'
import { Refused } from '../../test/support/matrix/refused.ts'
import { piecesOf, type Reply, type Scene, say } from '../../test/support/matrix/scene.ts'
import {
  type JsonObject,
  type MockAnswer,
  type MockCall,
  type MockFormat,
  type MockUsage,
  reported,
  streamAnswer,
  wholeAnswer,
} from '../../test/support/mock-format.ts'
import { MockProvider } from '../../test/support/mock-provider.ts'
import type { Edit } from './agents.ts'
import type { Upstream } from './upstreams.ts'

/** More requests than any client needs: one that goes on and on is ended. */
const mostCalls = 25

/** What a client has not asked a tool for: a title, a summary, a check whether the question is a hard one. */
const aside: Reply = { pieces: [say('Notes')], finish: 'end' }

/**
 * A provider that refuses what the real one refuses, and plays a model that edits a file in two turns: it calls the
 * client's own tools as the edit says, then says that it is done.
 */
export class Player {
  readonly mock: MockProvider
  readonly problems: string[] = []
  /** Turns in which the client gave back what the provider had signed, of those that came after a signed one. */
  readonly reasoning = { back: 0, of: 0 }
  readonly #upstream: Upstream
  #edit: Edit | null = null
  #calls = 0
  #hasSigned = false

  constructor(upstream: Upstream, credential: string) {
    this.#upstream = upstream
    const { mock } = upstream
    const answerWith = this.#play.bind(this)
    const format: MockFormat = { ...mock, answer: (call, usage) => mock.answer({ ...call, answerWith }, usage) }
    this.mock = new MockProvider(format, credential)
  }

  begin(edit: Edit): void {
    this.#edit = edit
    this.#calls = 0
    this.#hasSigned = false
    this.problems.length = 0
    Object.assign(this.reasoning, { back: 0, of: 0 })
  }

  #play(call: MockCall, body: JsonObject, usage: MockUsage): MockAnswer {
    try {
      if (++this.#calls > mostCalls) throw new Refused('This client asks too often.')
      return this.#answer(this.#reply(this.#upstream.provider.read(body), body), { call, body, usage })
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.problems.push(`the provider refused: ${error.message}`)
      return this.#upstream.mock.error(400, error.message, call.number)
    }
  }

  #reply(scene: Scene, body: JsonObject): Reply {
    const offered = new Set((scene.tools ?? []).map(({ name }) => name))
    const turns = this.#edit?.turns(offered) ?? null
    if (turns === null) return aside
    const done = piecesOf(scene.turns, 'result').length
    if (this.#hasSigned) this.#watchReasoning(scene)
    const calls = turns[done]
    if (calls === undefined) return { pieces: [say(this.#edit?.said ?? '')], finish: 'end' }
    const thinks = this.#thinks(body)
    this.#hasSigned ||= thinks
    const thought = thinks ? [{ kind: 'thought' as const, text: 'What next?', seal: '' }] : []
    return { pieces: [...thought, say('On it.'), ...calls], finish: 'calls' }
  }

  #watchReasoning({ turns }: Scene): void {
    this.reasoning.of += 1
    if (piecesOf(turns, 'thought').some(({ seal }) => seal !== '')) this.reasoning.back += 1
  }

  /** The real ones hand out nothing signed that nobody asked for. */
  #thinks({ thinking, include }: JsonObject): boolean {
    const wanted: Record<FormatName, boolean> = {
      chat: false,
      generate: true,
      messages: thinking !== undefined && JSON.stringify(thinking).includes('disabled') === false,
      responses: Array.isArray(include) && include.includes('reasoning.encrypted_content'),
    }
    return wanted[this.#upstream.format]
  }

  #answer(reply: Reply, { call, body, usage }: { call: MockCall; body: JsonObject; usage: MockUsage }): MockAnswer {
    const { provider, format } = this.#upstream
    const streamed = format === 'generate' ? call.path.includes('streamGenerate') : body.stream === true
    const type = (value: string): [string, string][] => [['Content-Type', value]]
    const used = reported(usage)
    // No two answers have the same ids.
    const own = (text: string) => text.replaceAll('scene', `scene${call.number}n`)
    if (streamed) return streamAnswer(type('text/event-stream'), provider.events(reply, body, usage).map(own), used)
    return wholeAnswer(200, type('application/json'), own(JSON.stringify(provider.whole(reply, body, usage))), used)
  }
}
