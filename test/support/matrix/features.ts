import type { JsonObject } from '../mock-format.ts'
import type { Facet } from './clients/client.ts'
import { assistant, type Piece, type Reply, type Scene, say, system, user } from './scene.ts'

/** One conversation of a feature: a scene, what the provider answers, and what the client's tools say to its calls. */
export interface Case {
  /** '' where the feature has but one. */
  name: string
  scene: Scene
  /** The last ends it; after each other one the client sends `results`. */
  replies: readonly Reply[]
  results?: readonly Piece[]
  /** Without it there is nothing to ask: clients whose format cannot say it leave the case out. */
  about?: Facet
  /** Which of the provider's models is asked; `plain`: one that takes sampling. */
  model?: 'plain' | 'reasoning' | 'newest'
  /** What the provider does in the place of an answer. */
  trouble?: 'invalid' | 'overloaded' | 'stream'
}

export interface Feature {
  name: string
  cases: readonly Case[]
}

/** Its base64 has both letters that are others in the alphabet for URLs. */
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from('fbefbeffffff', 'hex')]).toString(
  'base64',
)
const pdf = Buffer.from('%PDF-1.7\n1 0 obj\n<<>>\nendobj\ntrailer\n<<>>\n%%EOF\n').toString('base64')

const answer: Reply = { pieces: [say('Grüße, 世界 🌍 "quoted"\n')], finish: 'end' }
const ask = (...pieces: readonly Piece[]): Scene => ({ turns: [user(...pieces)] })
const hello = ask(say('Hello, 世界.'))

function object(properties: JsonObject): JsonObject {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

const weather = { name: 'weather', description: 'Tells the weather.', schema: object({ city: { type: 'string' } }) }
const time = { name: 'time', description: 'Tells the time.', schema: object({ zone: { type: 'string' } }) }
const asksForTools: Scene = { ...ask(say('How is it in Paris?')), tools: [weather, time] }
const call = (city: string): Piece => ({ kind: 'call', name: 'weather', input: { city } })
const calls = (...pieces: readonly Piece[]): Reply => ({ pieces, finish: 'calls' })
const result = (text: string, more: { failed?: boolean; image?: string } = {}): Piece => {
  const { failed = false, image } = more
  return { kind: 'result', text, failed, ...(image !== undefined && { image }) }
}
const thought: Piece = { kind: 'thought', text: 'The user asks for the weather.', seal: '' }
const marked = (text: string): Piece => ({ kind: 'text', text, mark: true })

const choose = (name: string, choice: NonNullable<Scene['choice']>): Case => ({
  name,
  scene: { ...asksForTools, choice },
  replies: [choice === 'none' ? answer : calls(call('Paris'))],
})

/** Of one setting: which of a provider's models takes it. */
const set = (name: string, about: Facet, setting: Partial<Scene>): Case => {
  return { name, about, scene: { ...hello, ...setting }, replies: [answer], model: 'plain' }
}

export const features: readonly Feature[] = [
  {
    name: 'text',
    cases: [
      {
        name: '',
        scene: { turns: [user(say('One.')), assistant(say('Two.')), user(say('Three.'))] },
        replies: [answer],
      },
    ],
  },
  {
    name: 'system in place',
    cases: [
      { name: 'first', scene: { turns: [system(say('Be brief.')), user(say('Hello.'))] }, replies: [answer] },
      {
        name: 'among the turns',
        about: 'placed',
        scene: { turns: [user(say('One.')), assistant(say('Two.')), system(say('Be brief.')), user(say('Three.'))] },
        replies: [answer],
      },
    ],
  },
  {
    name: 'image',
    cases: [
      { name: 'data', scene: ask(say('What is it?'), { kind: 'image', data: png }), replies: [answer] },
      {
        name: 'address',
        scene: ask(say('What is it?'), { kind: 'image-url', url: 'https://a.example/a.png' }),
        replies: [answer],
      },
    ],
  },
  {
    name: 'document',
    cases: [
      { name: '', scene: ask(say('Sum it up.'), { kind: 'file', data: pdf, name: 'report.pdf' }), replies: [answer] },
    ],
  },
  {
    name: 'tools',
    cases: [
      { name: '', scene: asksForTools, replies: [calls(call('Paris')), answer], results: [result('Rain, 12°.')] },
    ],
  },
  {
    name: 'parallel tools',
    cases: [
      {
        name: '',
        scene: asksForTools,
        replies: [calls(call('Paris'), call('Rome'), { kind: 'call', name: 'time', input: { zone: 'CET' } }), answer],
        results: [result('Rain.'), result('Sun.'), result('12:00')],
      },
      {
        name: 'switched off',
        about: 'parallel',
        scene: { ...asksForTools, parallel: false },
        replies: [calls(call('Paris'))],
      },
    ],
  },
  {
    name: 'tool result',
    cases: [
      {
        name: 'failed',
        about: 'failures',
        scene: asksForTools,
        replies: [calls(call('Paris')), answer],
        results: [result('No such city.', { failed: true })],
      },
      {
        name: 'with an image',
        about: 'resultImages',
        scene: asksForTools,
        replies: [calls(call('Paris')), answer],
        results: [result('A map.', { image: png })],
      },
      {
        name: 'of the history',
        scene: {
          ...asksForTools,
          turns: [
            user(say('How is it?')),
            assistant(say('I look.'), call('Paris'), call('Rome')),
            user(result('Rain.'), result('Sun.'), say('Go on.')),
          ],
        },
        replies: [answer],
      },
    ],
  },
  {
    name: 'tool choice',
    cases: [choose('auto', 'auto'), choose('none', 'none'), choose('any', 'any'), choose('one', { name: 'weather' })],
  },
  {
    name: 'structured output',
    cases: [
      {
        name: '',
        scene: { ...hello, schema: object({ city: { type: 'string' }, days: { type: 'integer' } }) },
        replies: [{ pieces: [say('{"city":"Zürich","days":3}')], finish: 'end' }],
      },
    ],
  },
  {
    name: 'reasoning',
    cases: [
      {
        name: '',
        scene: { ...asksForTools, effort: 'medium' },
        replies: [calls(thought, call('Paris')), { pieces: [thought, say('Rain.')], finish: 'end' }],
        results: [result('Rain, 12°.')],
        model: 'reasoning',
      },
    ],
  },
  {
    name: 'newest models',
    cases: [
      {
        name: 'tools while they reason',
        scene: { ...asksForTools, effort: 'medium' },
        replies: [calls(call('Paris')), answer],
        results: [result('Rain, 12°.')],
        model: 'newest',
      },
      { ...choose('forced', 'any'), model: 'newest' },
      { name: 'without thinking', scene: { ...asksForTools, effort: 'none' }, replies: [answer], model: 'newest' },
    ],
  },
  {
    name: 'cache marks',
    cases: [
      {
        name: '',
        about: 'marks',
        scene: { turns: [system(marked('Know this.')), user(marked('And this.'), say('What is it?'))] },
        replies: [answer],
      },
    ],
  },
  {
    name: 'stop and sampling',
    cases: [
      set('stop', 'stop', { stop: ['END'] }),
      set('temperature', 'temperature', { temperature: 0.5 }),
      set('top p', 'topP', { topP: 0.9 }),
      set('top k', 'topK', { topK: 20 }),
      set('seed', 'seed', { seed: 7 }),
      set('limit', 'maxOutput', { maxOutput: 500 }),
    ],
  },
  {
    name: 'usage and finish',
    cases: [
      { name: 'length', scene: hello, replies: [{ pieces: [say('Cut o')], finish: 'length' }] },
      { name: 'filtered', scene: hello, replies: [{ pieces: [say('I may')], finish: 'filtered' }] },
    ],
  },
  {
    name: 'errors',
    cases: [
      { name: 'of the request', scene: hello, replies: [answer], trouble: 'invalid' },
      { name: 'of the provider', scene: hello, replies: [answer], trouble: 'overloaded' },
      { name: 'in a stream', scene: hello, replies: [answer], trouble: 'stream' },
    ],
  },
]
