import type { JsonObject } from '../mock-format.ts'

/** What a client asks, whatever its format: clients write it by their SDKs, providers read it out of what reaches them. */
export interface Scene {
  turns: readonly SceneTurn[]
  tools?: readonly SceneTool[]
  choice?: 'auto' | 'none' | 'any' | { name: string }
  parallel?: boolean
  /** JSON Schema that the answer must hold to. */
  schema?: JsonObject
  effort?: string
  maxOutput?: number
  temperature?: number
  topP?: number
  topK?: number
  seed?: number
  stop?: readonly string[]
}

export interface SceneTurn {
  role: 'system' | 'user' | 'assistant'
  pieces: readonly Piece[]
}

export type Piece =
  | { kind: 'text'; text: string; mark?: true }
  /** Base64 of a PNG. */
  | { kind: 'image'; data: string }
  | { kind: 'image-url'; url: string }
  /** Base64 of a PDF. */
  | { kind: 'file'; data: string; name: string }
  /** `seal`: what its provider signed or encrypted it with; '' where there is none. */
  | { kind: 'thought'; text: string; seal: string }
  | { kind: 'call'; name: string; input: JsonObject }
  /** Of the calls before it, in their order. `image`: base64 of a PNG. */
  | { kind: 'result'; text: string; failed: boolean; image?: string }

export interface SceneTool {
  name: string
  description: string
  schema: JsonObject
}

export type Finish = 'end' | 'length' | 'calls' | 'filtered'

/** What a provider is to answer. */
export interface Reply {
  pieces: readonly Piece[]
  finish: Finish
}

export interface SceneUsage {
  input: number
  output: number
  cached: number
  reasoning: number
}

/** What a client's SDK made of an answer. */
export interface Got extends Reply {
  usage: SceneUsage | null
}

export const say = (text: string): Piece => ({ kind: 'text', text })
export const user = (...pieces: readonly Piece[]): SceneTurn => ({ role: 'user', pieces })
export const system = (...pieces: readonly Piece[]): SceneTurn => ({ role: 'system', pieces })
export const assistant = (...pieces: readonly Piece[]): SceneTurn => ({ role: 'assistant', pieces })

/** The pieces of one kind, of all turns or of one. */
export function piecesOf<Kind extends Piece['kind']>(
  turns: readonly { pieces: readonly Piece[] }[],
  kind: Kind,
): Extract<Piece, { kind: Kind }>[] {
  return turns.flatMap(({ pieces }) =>
    pieces.filter((piece): piece is Extract<Piece, { kind: Kind }> => piece.kind === kind),
  )
}

export function textOf(pieces: readonly Piece[], kind: 'text' | 'thought' = 'text'): string {
  return pieces.map((piece) => (piece.kind === kind && 'text' in piece ? piece.text : '')).join('')
}
