import type { JsonObject, MockUsage } from '../../mock-format.ts'
import type { Reply, Scene } from '../scene.ts'

/** A provider's side of a format, written after its documents and not after `src/translate/`. */
export interface SceneProvider {
  /** What its reasoning is signed or encrypted with: it takes no other. '' where it signs none. */
  seal: string
  /** What a request asks; throws `Refused` for what the real one refuses. */
  read(body: JsonObject): Scene
  whole(reply: Reply, body: JsonObject, usage: MockUsage): JsonObject
  events(reply: Reply, body: JsonObject, usage: MockUsage): string[]
}
