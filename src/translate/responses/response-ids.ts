import { answerId, mintId } from '../ids.ts'

/** Ids of an answer and of its items: the same answer always has the same. */
export class ResponseIds {
  readonly response: string
  readonly #seed: string

  constructor(providerId: string, requestId: string) {
    this.response = answerId('resp_', providerId, requestId)
    this.#seed = `${providerId}\n${requestId}`
  }

  /** Of reasoning, the id shows that it is the gateway's own: clients send it back, also where nothing in it is sealed. */
  item(prefix: 'msg' | 'rs' | 'fc' | 'ctc', index: number): string {
    return mintId(prefix === 'rs' ? 'rs_sp_' : `${prefix}_`, this.#seed, index)
  }

  /** For providers that give calls no ids. */
  call(index: number): string {
    return mintId('call_', this.#seed, index)
  }
}
