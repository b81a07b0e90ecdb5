import type { IncomingMessage } from 'node:http'
import { SignInRefused } from '../sign-in/refusal.ts'

/** What signs somebody in is small; a passkey's answer is the largest, with some kilobytes. */
const maxBytes = 64 * 1024

/** The client went away before it had sent what it began: nobody is left to answer, and nothing is wrong here. */
export class BodyCut extends Error {
  override readonly name = 'BodyCut'
}

/** The JSON object that was sent. Throws `SignInRefused` and `BodyCut`. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const value = parse((await readBytes(request)).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('The body is no JSON object.')
  return value as Record<string, unknown>
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request) {
      size += (chunk as Buffer).length
      if (size > maxBytes) throw invalid('The body is too large.')
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    // The stream's own faults are the connection's: reset, closed, or cut for being too slow.
    throw error instanceof SignInRefused ? error : new BodyCut('the body was cut', { cause: error })
  }
  return Buffer.concat(chunks)
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
