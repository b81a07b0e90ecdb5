import { ownReasoningPrefix } from '../../core/secrets/sealed-mark.ts'
import { answerId, mintId } from '../ids.ts'

/** The ids of an answer and its items. The same answer always gets the same ids. */
export class ResponseIds {
  readonly response: string
  readonly #seed: string

  /** `isKept`: a client can continue from it, so its id must be unique. Some servers give several answers one id. */
  constructor(providerId: string, requestId: string, isKept: boolean) {
    this.#seed = `${providerId}\n${requestId}`
    this.response = isKept ? mintId('resp_', this.#seed) : answerId('resp_', providerId, requestId)
  }

  /** The id of reasoning shows that it is the gateway's own: clients send it back, even if nothing in it is sealed. */
  item(prefix: 'msg' | 'rs' | 'fc' | 'ctc' | 'tsc' | 'ig', index: number): string {
    return mintId(prefix === 'rs' ? ownReasoningPrefix : `${prefix}_`, this.#seed, index)
  }

  /** For providers that give calls no ids. */
  call(index: number): string {
    return mintId('call_', this.#seed, index)
  }
}
