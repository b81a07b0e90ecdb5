import type { JsonObject } from '../../mock-format.ts'
import type { Got, Piece, Scene, SceneTurn } from '../scene.ts'

/** An answer in the SDK's own words, and what the client's tools say to its calls. */
export interface Step {
  raw: unknown
  results: readonly Piece[]
}

export interface Asked {
  model: string
  scene: Scene
  streamed: boolean
  /** What has happened since the scene's own turns. */
  steps: readonly Step[]
}

/** An official SDK, with the helper that it has for streams, tools or structured output. */
export interface SceneClient {
  /** What its format has no member for: it does not say it, and nobody can expect it to arrive. */
  cannot: ReadonlySet<Facet>
  ask(asked: Asked): Promise<{ got: Got; raw: unknown }>
  /** Where the SDK has a loop of its own that calls tools: every answer of it. */
  loop?(asked: Asked, results: readonly Piece[]): Promise<Got[]>
}

/** How a format's SDKs are spoken to, in whatever language they are. */
export interface Dialect {
  cannot: SceneClient['cannot']
  paramsOf(asked: Asked): JsonObject
  /** Of the SDK's answer, or of the list of its chunks. */
  read(answer: unknown): { got: Got; raw: unknown }
}

/** What is compared of a scene. */
export type Facet =
  | 'texts'
  /** System messages among the turns. */
  | 'placed'
  | 'images'
  | 'imageUrls'
  | 'files'
  | 'fileNames'
  | 'calls'
  | 'results'
  | 'failures'
  | 'resultImages'
  | 'seals'
  | 'marks'
  | 'tools'
  | 'choice'
  | 'parallel'
  | 'schema'
  | 'effort'
  | 'maxOutput'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'stop'

/** Ids of the calls of a scene's own turns, in the order in which they are written. */
export class CallIds {
  #calls = 0
  #results = 0

  call(): string {
    return `call_of_client_${this.#calls++}`
  }

  result(): string {
    return `call_of_client_${this.#results++}`
  }
}

/** What SDKs want typed is made of parts that are not: what is wrong with it, the gateway and the provider say. */
export function typed<Params>(members: object): Params {
  return members as Params
}

export const pngUrl = (data: string) => `data:image/png;base64,${data}`
export const pdfUrl = (data: string) => `data:application/pdf;base64,${data}`

export function leadingSystem({ turns }: Scene): { leading: SceneTurn[]; rest: SceneTurn[] } {
  const first = turns.findIndex(({ role }) => role !== 'system')
  return { leading: turns.slice(0, first), rest: turns.slice(first) }
}
