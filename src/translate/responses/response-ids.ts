import { ownReasoningPrefix } from '../../core/sealed-mark.ts'
import { answerId, mintId } from '../ids.ts'

/** Ids of an answer and of its items: the same answer always has the same. */
export class ResponseIds {
  readonly response: string
  readonly #seed: string

  /** `isKept`: a client can go on from it, so that it must be no other answer's. Some servers give several answers one id. */
  constructor(providerId: string, requestId: string, isKept: boolean) {
    this.#seed = `${providerId}\n${requestId}`
    this.response = isKept ? mintId('resp_', this.#seed) : answerId('resp_', providerId, requestId)
  }

  /** Of reasoning, the id shows that it is the gateway's own: clients send it back, also where nothing in it is sealed. */
  item(prefix: 'msg' | 'rs' | 'fc' | 'ctc', index: number): string {
    return mintId(prefix === 'rs' ? ownReasoningPrefix : `${prefix}_`, this.#seed, index)
  }

  /** For providers that give calls no ids. */
  call(index: number): string {
    return mintId('call_', this.#seed, index)
  }
}
