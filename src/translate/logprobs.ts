import { asArray, asObject, asString, type JsonObject } from '../core/json/json-value.ts'
import type { TranslationTarget } from './codec.ts'
import type { LogprobSettings, TokenLogprob } from './conversation.ts'
import type { Ledger } from './ledger.ts'
import { limitAt } from './request-fault.ts'

interface AskedMembers {
  /** Whether the client asks for them, and where it says so. */
  asked: boolean
  path: string
  /** The number of alternatives that it asks for, which implies that it wants probabilities. */
  top: unknown
  topPath: string
}

export function readAsked({ asked, path, top, topPath }: AskedMembers): LogprobSettings | null {
  const count = limitAt(top, topPath) || null
  if (!asked && count === null) return null
  return { path: asked ? path : topPath, top: count }
}

/** From either OpenAI format. Undefined: none. */
export function readLogprobs(value: unknown): readonly TokenLogprob[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return
  return value.map((one) => {
    const token = asObject(one) ?? {}
    return {
      ...readToken(token),
      top_logprobs: asArray(token.top_logprobs).map((top) => readToken(asObject(top) ?? {})),
    }
  })
}

/** Responses leaves the bytes out of its streams. */
function readToken({ token: written, logprob, bytes }: JsonObject): Omit<TokenLogprob, 'top_logprobs'> {
  const token = asString(written)
  return { token, logprob: logprob ?? null, bytes: bytes === undefined ? bytesOf(token) : asList(bytes) }
}

function asList(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? value : null
}

/** Null if the token is a part of a character, so that its text does not determine its bytes. */
export function bytesOf(token: string): readonly number[] | null {
  return token.includes('\ufffd') ? null : [...Buffer.from(token)]
}

/** A server with OpenAI's API other than OpenAI's own may not have them. */
export function refusesLogprobs(asked: LogprobSettings, { logprobs }: TranslationTarget, ledger: Ledger): boolean {
  if (!logprobs) ledger.refuse(asked.path, 'this provider may not give probabilities of tokens')
  return !logprobs
}
