import type { z } from 'zod'
import { bodiesShape, type bodyShape } from '../../src/admin/contract/requests/bodies.ts'
import { whyNoBodies } from '../../src/admin/contract/requests/why-no-bodies.ts'
import { escapeControls, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import { missingBodies } from '../../src/core/capture.ts'
import { indentJson } from '../../src/core/json/indent-json.ts'
import type { RequestRecord } from '../../src/core/record.ts'
import type { View } from './view.ts'

type Body = z.infer<typeof bodyShape>

/** What was asked and answered, each under its title; nothing where it was not asked for. */
export function renderBodies(output: unknown, record: RequestRecord, view: View): string[] {
  const found = valueAt(output, 'bodies')
  const until = valueAt(output, 'bodies_until')
  const shortly = typeof until === 'string' ? formatValue(until, 'age', view) : null
  const end = view.utc || shortly === null ? shortly : `${shortly} (${until})`
  if (found === undefined)
    return end === null
      ? []
      : [`${view.paint('strong', 'Bodies')}\n  Captured. Deleted at the latest ${end}. To read them: --bodies\n`]
  if (found === null) {
    const missing = valueAt(output, 'bodies_missing')
    const { reason, hint } = whyNoBodies(record, missingBodies.find((each) => each === missing) ?? null)
    return [`${view.paint('strong', 'Bodies')}\n  ${escapeControls(reason)}\n  ${escapeControls(hint)}\n`]
  }
  const { request, answer } = bodiesShape.parse(found)
  return [
    request === null ? '' : renderBody(`Request  ${request.method} ${request.path}`, request, view),
    answer === null ? '' : renderBody('Response', answer, view),
    end === null ? '' : view.paint('quiet', `The bodies are deleted at the latest ${end}.\n`),
  ]
}

function renderBody(title: string, body: Body, view: View): string {
  const head = `${view.paint('strong', escapeControls(title))}  ${view.paint('quiet', describeBody(body))}`
  return `${head}\n${body.content === null ? '' : `${printable(body.content)}\n`}`
}

/** `application/json, 1.3 KB, secrets masked`. */
function describeBody({ type, bytes, truncated, masked, content }: Body): string {
  const size = formatValue(bytes, 'bytes', { now: 0, utc: true })
  const notes = [
    content === null ? 'not stored: not text' : '',
    truncated ? 'truncated' : '',
    masked ? 'secrets or personal data masked' : '',
  ]
  return escapeControls([type ?? 'no type', size, ...notes].filter((note) => note !== '').join(', '))
}

/** JSON set out for people; a stream, and what is cut off, as it is. Escape sequences are shown, not obeyed. */
function printable(content: string): string {
  return (indentJson(content) ?? content.trimEnd())
    .split(/\r\n|\r|\n/)
    .map((line) => `  ${escapeControls(line)}`.trimEnd())
    .join('\n')
}
