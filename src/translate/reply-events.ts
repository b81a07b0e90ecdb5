import type { ModelReply, ReplyEvent } from './reply.ts'

/** The events of a whole answer, so that a format writes both in the same way. */
export function* replyEvents({ id, model, parts, stop }: ModelReply): Generator<ReplyEvent> {
  yield { kind: 'start', id, model }
  for (const [part, content] of parts.entries()) {
    if (content.kind === 'image') {
      const { path: _, ...image } = content
      yield { ...image, part }
      yield { kind: 'part-end', part }
      continue
    }
    if (content.kind === 'call') {
      yield { kind: 'call', part, id: content.id, name: content.name, custom: content.custom }
      yield { kind: 'arguments', part, text: content.arguments }
    } else if (content.kind === 'text' && content.logprobs !== undefined)
      yield { kind: 'text', part, text: content.text, logprobs: content.logprobs }
    else if (content.text !== '') yield { kind: content.kind, part, text: content.text }
    if (content.kind === 'text')
      for (const citation of content.citations ?? []) yield { kind: 'citation', part, citation }
    if (content.kind !== 'refusal' && content.opaque !== undefined)
      yield { kind: 'opaque', part, opaque: content.opaque }
    yield { kind: 'part-end', part }
  }
  yield { kind: 'stop', stop }
}
