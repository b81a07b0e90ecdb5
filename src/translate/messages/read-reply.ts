import { fault } from '../../core/errors.ts'
import { asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { brokenReply } from '../broken-answer.ts'
import type { Citation } from '../conversation.ts'
import { lostMembers } from '../lost-members.ts'
import type { ModelReply } from '../reply.ts'
import { settleCalls } from '../stop.ts'
import { readCitations } from './citations.ts'
import { isForeignStop, readStop } from './stop.ts'

export function readMessagesReply(body: JsonObject) {
  if (!Array.isArray(body.content)) return fault('provider_bad_response', "The provider's answer has no content.")
  const parts: ModelReply['parts'][number][] = []
  const dropped: string[] = []
  for (const [index, value] of body.content.entries()) {
    const part = readBlock(asObject(value), `content[${index}]`, dropped)
    if (part === null) continue
    parts.push(part)
    dropped.push(...lostOfBlock(asObject(value)).map((name) => `content[${index}].${name}`))
  }
  const settled = settleCalls(parts, readStop(body))
  if (settled.stop.reason === 'broken') {
    return brokenReply('The model called a tool with arguments that are not a JSON object.')
  }
  dropped.push(...lostOfMessage(body))
  const reply: ModelReply = { id: asString(body.id), model: asString(body.model), ...settled, created: null, dropped }
  return reply
}

const readOfMessage = new Set('id type role model content stop_reason stop_sequence stop_details usage'.split(' '))

/** Members of a message, or of a stream's start and end, that no other format has a place for. */
export function lostOfMessage(message: JsonObject | null): readonly string[] {
  const category = asText(asObject(message?.stop_details)?.category)
  return [
    ...lostMembers(message, readOfMessage),
    ...(category === null ? [] : ['stop_details.category']),
    ...(isForeignStop(message ?? {}) ? ['stop_reason'] : []),
  ]
}

const readOfBlock = new Set('type text citations thinking signature data id name input'.split(' '))

/** Members of a block that is read. The caller of a tool only matters if it was code that runs at Anthropic. */
export function lostOfBlock(block: JsonObject | null): readonly string[] {
  const isDirect = asObject(block?.caller)?.type === 'direct'
  return lostMembers(block, readOfBlock).filter((name) => name !== 'caller' || !isDirect)
}

function readBlock(block: JsonObject | null, path: string, dropped: string[]): ModelReply['parts'][number] | null {
  switch (block?.type) {
    case 'text': {
      const citations = readCitations(block.citations)
      if (citations.includes(null)) dropped.push(`${path}.citations`)
      const kept = citations.filter((citation): citation is Citation => citation !== null)
      const part = { kind: 'text' as const, path, text: asString(block.text) }
      return kept.length === 0 ? part : { ...part, citations: kept }
    }
    case 'thinking': {
      const value = asString(block.signature)
      const part = { kind: 'reasoning' as const, path, text: asString(block.thinking) }
      return value === '' ? part : { ...part, opaque: { family: 'anthropic', form: 'signature', value } }
    }
    case 'redacted_thinking': {
      const opaque = { family: 'anthropic' as const, form: 'redacted' as const, value: asString(block.data) }
      return { kind: 'reasoning', path, text: '', opaque }
    }
    case 'tool_use': {
      const input = asObject(block.input) ?? {}
      return {
        kind: 'call',
        path,
        id: asText(block.id),
        name: asString(block.name),
        arguments: JSON.stringify(input),
        custom: false,
      }
    }
    default:
      // Blocks of hosted tools: their texts and citations are in blocks of their own.
      dropped.push(`${path}.${asText(block?.type) ?? 'unknown'}`)
      return null
  }
}
