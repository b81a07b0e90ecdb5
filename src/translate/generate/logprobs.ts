import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { TokenLogprob } from '../conversation.ts'
import { bytesOf } from '../logprobs.ts'

type TokenCandidate = Omit<TokenLogprob, 'top_logprobs'>

/** Of a candidate. Undefined: none. */
export function readLogprobsResult(value: unknown): readonly TokenLogprob[] | undefined {
  const result = asObject(value)
  const chosen = asArray(result?.chosenCandidates)
  if (chosen.length === 0) return
  const tops = asArray(result?.topCandidates)
  return chosen.map((one, index) => ({
    ...readCandidate(one),
    top_logprobs: asArray(asObject(tops[index])?.candidates).map(readCandidate),
  }))
}

/**
 * Google has one list for all texts of a candidate: assigns tokens to texts by where they begin. If tokens and texts do not match (part of
 * a character, a hidden token), the first text gets all of them.
 */
export function splitLogprobs(
  tokens: readonly TokenLogprob[] | undefined,
  texts: readonly string[],
): readonly (readonly TokenLogprob[] | undefined)[] {
  if (tokens === undefined || texts.length < 2) return [tokens]
  if (tokens.map(({ token }) => token).join('') !== texts.join('')) return [tokens]
  let next = 0
  let at = 0
  let end = 0
  return texts.map((text) => {
    const from = next
    end += text.length
    for (let token = tokens[next]; token !== undefined && at < end; token = tokens[++next]) at += token.token.length
    return next === from ? undefined : tokens.slice(from, next)
  })
}

/** Zero is left out. */
function readCandidate(value: unknown): TokenCandidate {
  const candidate = asObject(value)
  const token = asString(candidate?.token)
  return { token, logprob: candidate?.logProbability ?? 0, bytes: bytesOf(token) }
}

/** Token ids are not known. */
export function writeLogprobsResult(tokens: readonly TokenLogprob[]): JsonObject {
  const hasTop = tokens.some(({ top_logprobs }) => top_logprobs.length > 0)
  const topCandidates = tokens.map(({ top_logprobs }) => ({ candidates: top_logprobs.map(writeCandidate) }))
  return { ...(hasTop && { topCandidates }), chosenCandidates: tokens.map(writeCandidate) }
}

function writeCandidate({ token, logprob }: TokenCandidate): JsonObject {
  return { token, logProbability: logprob }
}
