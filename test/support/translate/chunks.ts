import type { SentEvent } from './sse.ts'

/** A chunk of a chat provider. */
export function chatChunk(delta: object, finish: string | null = null): SentEvent {
  const choice = { index: 0, delta, finish_reason: finish }
  return sent('', {
    id: 'chatcmpl-ABCDEFGH',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [choice],
  })
}

/** A piece of a call: with an id and a name it begins. */
export function callChunk(index: number, piece: string, begins: { id?: string; name?: string } = {}): SentEvent {
  const { id, name } = begins
  const start = id === undefined ? {} : { id, type: 'function' }
  return chatChunk({
    tool_calls: [{ index, ...start, function: { ...(name === undefined ? {} : { name }), arguments: piece } }],
  })
}

/** Anthropic's events of one answer, with the blocks in between. */
export function messageEvents(
  blocks: readonly SentEvent[],
  stopReason: string,
  usage: object = { output_tokens: 3 },
): SentEvent[] {
  const message = { id: 'msg_ABCDEFGH', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } }
  return [
    sent('message_start', { message }),
    ...blocks,
    sent('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage }),
    sent('message_stop', {}),
  ]
}

export function block(index: number, shell: object, ...deltas: readonly object[]): SentEvent[] {
  return [
    sent('content_block_start', { index, content_block: shell }),
    ...deltas.map((delta) => sent('content_block_delta', { index, delta })),
    sent('content_block_stop', { index }),
  ]
}

function sent(name: string, members: object): SentEvent {
  const data = { ...(name === '' ? {} : { type: name }), ...members }
  return { name, data, raw: JSON.stringify(data) }
}
