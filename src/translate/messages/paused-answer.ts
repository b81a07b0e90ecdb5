import { type Member, scanObject } from '../../core/json/json-scan.ts'
import { asArray, asObject, asString, isCount, type JsonObject, readMembers } from '../../core/json/json-value.ts'
import { countOf, parseLossless } from '../json.ts'
import type { PausedBlocks, Pausing } from '../pausing.ts'

const paused = 'pause_turn'
const pausedMark = Buffer.from(`"${paused}"`)

/**
 * Anthropic pauses an answer when its own tools (web search) take long, and continues when the blocks written so far are sent back at the
 * end of the conversation. Source: wire/translate.md, section 9.
 */
export const messagesPausing: Pausing = {
  openBlocks: () => new StreamedBlocks(),
  readWhole(body) {
    if (!body.includes(pausedMark)) return null
    const answer = asObject(parseLossless(body))
    return answer?.stop_reason === paused ? writeBlocks(asArray(answer.content).map(asObject)) : null
  },
  editRequest(request, blocks, written) {
    const members = scan(request, ['messages', 'max_tokens', 'thinking'])
    const [messages, most] = [members.get('messages'), members.get('max_tokens')]
    if (messages === undefined || most === undefined) return null
    const { max_tokens: limit, thinking } = readMembers(
      request,
      [...members.values()].filter(({ name }) => name !== messages.name),
    )
    const left = isCount(limit) ? limit - written : 0
    const budget = asObject(thinking)?.budget_tokens
    // The thinking budget must be smaller than the output limit.
    if (left < 1 || (isCount(budget) && budget >= left)) return null
    const turn = `{"role":"assistant","content":[${blocks.join(',')}]}`
    return [
      { span: { start: messages.end - 1, end: messages.end - 1 }, text: `,${turn}` },
      { span: most, text: String(left) },
    ]
  },
  editAnswer(body, blocks) {
    const content = scan(body, ['content']).get('content')
    if (content === undefined || blocks.length === 0) return []
    const isEmpty = !body.subarray(content.start + 1, content.end - 1).some((byte) => byte > space)
    const span = { start: content.start + 1, end: content.start + 1 }
    return [{ span, text: blocks.join(',') + (isEmpty ? '' : ',') }]
  },
}

const space = 0x20

function scan(bytes: Buffer, names: readonly string[]): Map<string, Member> {
  const found = scanObject(bytes, names)
  return new Map(found.ok ? found.members.map((member) => [member.name, member]) : [])
}

/** Null: there is nothing to send back, or a call of the client's own tool, which needs its result first. */
function writeBlocks(blocks: readonly (JsonObject | null)[]): readonly string[] | null {
  const kept = blocks.flatMap((block, index): JsonObject[] => {
    if (block?.type !== 'text') return block === null ? [] : [block]
    // Empty texts are rejected, and so is white space at the end.
    const text = index === blocks.length - 1 ? asString(block.text).trimEnd() : asString(block.text)
    return text.trim() === '' ? [] : [{ ...block, text }]
  })
  const isStuck = kept.length === 0 || kept.some(({ type }) => type === 'tool_use')
  return isStuck ? null : kept.map((block) => JSON.stringify(block))
}

/** Assembles blocks like the SDK, and keeps what only the provider can read. */
class StreamedBlocks implements PausedBlocks {
  /** By their index. */
  readonly #blocks = new Map<number, Record<string, unknown>>()
  /** The input of a block, as JSON in pieces. */
  readonly #inputs = new Map<Record<string, unknown>, string>()
  #hasPaused = false

  add(event: JsonObject): void {
    const index = countOf(event.index) ?? 0
    if (event.type === 'content_block_start') this.#blocks.set(index, { ...asObject(event.content_block) })
    else if (event.type === 'content_block_delta') this.#grow(this.#blocks.get(index), asObject(event.delta) ?? {})
    else if (event.type === 'message_delta') this.#hasPaused = asObject(event.delta)?.stop_reason === paused
  }

  read(): readonly string[] | null {
    if (!this.#hasPaused) return null
    for (const [block, input] of this.#inputs) block.input = parseLossless(input === '' ? '{}' : input) ?? {}
    return writeBlocks([...this.#blocks.values()])
  }

  #grow(block: Record<string, unknown> | undefined, delta: JsonObject): void {
    if (block === undefined) return
    switch (delta.type) {
      case 'text_delta':
        block.text = asString(block.text) + asString(delta.text)
        break
      case 'thinking_delta':
        block.thinking = asString(block.thinking) + asString(delta.thinking)
        break
      case 'signature_delta':
        block.signature = asString(block.signature) + asString(delta.signature)
        break
      case 'citations_delta':
        if (Array.isArray(block.citations)) block.citations.push(delta.citation)
        else block.citations = [delta.citation]
        break
      case 'input_json_delta':
        this.#inputs.set(block, (this.#inputs.get(block) ?? '') + asString(delta.partial_json))
        break
    }
  }
}
