import { fault } from '../../core/errors.ts'
import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import { brokenReply } from '../broken-answer.ts'
import { isFlagged, lostMembers } from '../lost-members.ts'
import type { ModelReply } from '../reply.ts'
import { settleCalls } from '../stop.ts'
import { readGrounding } from './citations.ts'
import { isForeignFinish, readFinish } from './finish.ts'
import { readLogprobsResult, splitLogprobs } from './logprobs.ts'
import { lostOfPart, readAnswerPart } from './read-parts.ts'

type CandidateReplyPart = ModelReply['parts'][number]

export function readGenerateReply(body: JsonObject) {
  const candidate = firstCandidate(body) ?? asObject(asArray(body.candidates)[0])
  const finish = readFinish(candidate, body.promptFeedback)
  if (candidate === null && finish === null) {
    return fault('provider_bad_response', 'The answer has neither a candidate nor a reason why there is none.')
  }
  const parts = readParts(candidate)
  const stop = finish ?? { reason: 'done', sequence: null, explanation: null }
  const logprobs = readLogprobsResult(candidate?.logprobsResult)
  const texts = parts.filter((part) => part.kind === 'text')
  const split = splitLogprobs(
    logprobs,
    texts.map(({ text }) => text),
  )
  for (const [index, text] of texts.entries()) if (split[index] !== undefined) text.logprobs = split[index]
  const settled = settleCalls(cite(parts, candidate), stop)
  if (settled.stop.reason === 'broken') return brokenReply(stop.explanation ?? undefined)
  const reply: ModelReply = {
    id: asString(body.responseId),
    model: asString(body.modelVersion),
    ...settled,
    created: null,
    dropped: [
      ...new Set([
        ...lostOfAnswer(body),
        ...lostOfCandidate(candidate),
        ...(logprobs !== undefined && texts.length === 0 ? ['logprobsResult'] : []),
        ...(asArray(body.candidates).length > 1 ? ['candidates[1]'] : []),
      ]),
    ],
  }
  return reply
}

/** Candidates may be in any order, each in a chunk of its own. One without an index is the first. */
export function firstCandidate({ candidates }: JsonObject): JsonObject | null {
  const found = asArray(candidates).find((one) => (asObject(one)?.index ?? 0) === 0)
  return asObject(found)
}

/** Consecutive texts, or thoughts, are one: they may have been split anywhere. */
function readParts(candidate: JsonObject | null): CandidateReplyPart[] {
  const parts: CandidateReplyPart[] = []
  for (const [index, value] of asArray(asObject(candidate?.content)?.parts).entries()) {
    const part = readAnswerPart(asObject(value) ?? {})
    const path = `candidates[0].content.parts[${index}]`
    if (part === null) continue
    const opaque = part.opaque === null ? {} : { opaque: part.opaque }
    if (part.kind === 'call') {
      const { id, name, arguments: text } = part
      parts.push({ kind: 'call', path, id, name, arguments: text, custom: false, ...opaque })
      continue
    }
    if (part.kind === 'image') {
      parts.push({ kind: 'image', path, type: part.type, data: part.data, ...opaque })
      continue
    }
    const before = parts.at(-1)
    if (before?.kind === part.kind && before.opaque === undefined) {
      parts[parts.length - 1] = { ...before, text: before.text + part.text, ...opaque }
    } else if (part.text !== '' || part.opaque !== null)
      parts.push({ kind: part.kind, path, text: part.text, ...opaque })
  }
  return parts
}

/** Assigns each citation to the text in which it begins. */
function cite(parts: readonly CandidateReplyPart[], candidate: JsonObject | null): readonly CandidateReplyPart[] {
  const text = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  const citations = readGrounding(asObject(candidate?.groundingMetadata), text)
  if (citations.length === 0) return parts
  citations.sort((a, b) => (a.start ?? 0) - (b.start ?? 0))
  let base = 0
  let next = 0
  return parts.map((part) => {
    if (part.kind !== 'text') return part
    base += part.text.length
    const first = next
    while (next < citations.length && (citations[next]?.start ?? 0) < base) next++
    return next === first ? part : { ...part, citations: citations.slice(first, next) }
  })
}

const readOfCandidate = new Set(
  (
    'content finishReason finishMessage index groundingMetadata logprobsResult continuationToken safetyRatings ' +
    // Totals of what is read elsewhere.
    'avgLogprobs tokenCount'
  ).split(' '),
)
const readOfGrounding = new Set(['groundingChunks', 'groundingSupports'])

const readOfAnswer = new Set(
  'candidates usageMetadata modelVersion responseId createTime promptFeedback traceId'.split(' '),
)

/** Members of an answer, or of a chunk, that no other format has a place for. */
export function lostOfAnswer(body: JsonObject): string[] {
  const ratings = asObject(body.promptFeedback)?.safetyRatings
  return [...lostMembers(body, readOfAnswer), ...(isFlagged(ratings) ? ['promptFeedback.safetyRatings'] : [])]
}

/** The same for a candidate. */
export function lostOfCandidate(candidate: JsonObject | null): string[] {
  if (candidate === null) return []
  const grounding = asObject(candidate.groundingMetadata)
  const isForeign = (chunk: unknown) => asObject(asObject(chunk)?.web) === null
  return [
    ...asArray(asObject(candidate.content)?.parts).flatMap((part) => lostOfPart(asObject(part) ?? {})),
    ...lostMembers(candidate, readOfCandidate),
    ...lostMembers(grounding, readOfGrounding).map((name) => `groundingMetadata.${name}`),
    ...(asArray(grounding?.groundingChunks).some(isForeign) ? ['groundingMetadata.groundingChunks'] : []),
    ...(isForeignFinish(candidate) ? ['finishReason'] : []),
    ...(isFlagged(candidate.safetyRatings) ? ['safetyRatings'] : []),
  ]
}
