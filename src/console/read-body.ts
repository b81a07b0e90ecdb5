import type { IncomingMessage } from 'node:http'
import { SignInRefused } from '../sign-in/refusal.ts'

/** What signs somebody in is small; a passkey's answer is the largest, with some kilobytes. */
const maxBytes = 64 * 1024

/** The JSON object that was sent. Throws `SignInRefused`. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > maxBytes) throw invalid('The body is too large.')
    chunks.push(chunk as Buffer)
  }
  const value = parse(Buffer.concat(chunks).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('The body is no JSON object.')
  return value as Record<string, unknown>
}

function parse(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON.')
  }
}

/** A field that must be there. */
export function textField(body: Record<string, unknown>, name: string, longest = 1024): string {
  const value = optionalText(body, name, longest)
  if (value === null) throw invalid(`${name} is missing.`)
  return value
}

/** null: left out, or empty. */
export function optionalText(body: Record<string, unknown>, name: string, longest = 1024): string | null {
  const value = body[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') throw invalid(`${name} is no text.`)
  if (value.length > longest) throw invalid(`${name} is too long.`)
  return value
}

function invalid(message: string): SignInRefused {
  return new SignInRefused('invalid', message, 'Reload the page, and try again.')
}
