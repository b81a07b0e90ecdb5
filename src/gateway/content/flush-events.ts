import { memberOf, readNodes, type TextNode } from '../../core/json/json-nodes.ts'
import { applyEdits } from '../../lanes/patch-body.ts'
import { findTexts } from './content-texts.ts'

/** A step into an object, or to the element of a list that has this index. */
export type Step = string | { index: string }

/**
 * Builds the data of an event that adds a text where an earlier one did. The earlier event is parsed again: many texts may be open, and
 * parsed events are far larger than their bytes.
 */
export type FlushText = (text: string) => Buffer

const chunkNames = ['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier']
const answerNames = ['responseId', 'modelVersion']

/** A chunk with one choice. */
export function buildChunk(data: Buffer, index: string, steps: readonly Step[]): FlushText {
  return (text) => {
    const choice = `{"index":${index},${nest(steps, text)},"finish_reason":null}`
    return Buffer.from(`{${copyMembers(data, chunkNames)}"choices":[${choice}]}`)
  }
}

/** A chunk of Gemini's with one part. */
export function buildPart(
  data: Buffer,
  index: string,
  beside: Readonly<Record<string, unknown>>,
  name: 'text' | 'stringValue',
): FlushText {
  return (text) => {
    const value = { ...beside, [name]: text }
    const part = name === 'text' ? value : { functionCall: { partialArgs: [{ ...value, willContinue: true }] } }
    const content = JSON.stringify({ parts: [part], role: 'model' })
    const head = copyMembers(data, answerNames)
    return Buffer.from(`{${head}"candidates":[{"content":${content},"index":${index}}]}`)
  }
}

/** A delta of a block of Anthropic's. */
export function buildDelta(index: string, name: 'text' | 'thinking'): FlushText {
  return (text) => {
    const delta = JSON.stringify({ type: `${name}_delta`, [name]: text })
    return Buffer.from(`{"type":"content_block_delta","index":${index},"delta":${delta}}`)
  }
}

/** The same event with another text, and with all other texts emptied. */
export function refill(data: Buffer, node: TextNode): FlushText {
  return (text) => {
    const { texts, logprobs } = findTexts(data, readNodes(data) ?? node, 'answer')
    const others = texts.filter((other) => other.node.start !== node.start)
    return applyEdits(data, [
      { span: node, text: JSON.stringify(text) },
      ...others.map((other) => ({ span: other.node, text: '""' })),
      ...logprobs.map((span) => ({ span, text: span.kind === 'array' ? '[]' : 'null' })),
    ])
  }
}

function nest(steps: readonly Step[], text: string): string {
  const [step, ...rest] = steps
  if (step === undefined) return JSON.stringify(text)
  // The element of a list is identified by its index.
  if (typeof step !== 'string' && rest.length === 0) return `[${JSON.stringify(text)}]`
  if (typeof step !== 'string') return `[{"index":${step.index},${nest(rest, text)}}]`
  const [next] = rest
  const value = next === undefined || typeof next !== 'string' ? nest(rest, text) : `{${nest(rest, text)}}`
  return `${JSON.stringify(step)}:${value}`
}

function copyMembers(data: Buffer, names: readonly string[]): string {
  const root = readNodes(data)
  return names
    .map((name) => {
      const member = memberOf(root, name)
      return member === null ? '' : `${JSON.stringify(name)}:${data.toString('utf8', member.start, member.end)},`
    })
    .join('')
}
