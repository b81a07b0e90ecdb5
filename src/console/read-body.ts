import type { IncomingMessage } from 'node:http'
import { SignInRefused } from '../sign-in/refusal.ts'

/** Bodies are small; the largest, of a passkey, has a few kilobytes. */
const maxBytes = 64 * 1024

/** The client disconnected before it had sent the whole body. No response is needed. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientDisconnected'
}

/** The request body, a JSON object. Throws `SignInRefused` and `ClientDisconnected`. */
export async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const value = parse((await readBytes(request)).toString('utf8'))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('The body is not a JSON object.')
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
    // Errors of the stream come from the connection: reset, closed, or timed out.
    throw error instanceof SignInRefused ? error : new ClientDisconnected('the client disconnected', { cause: error })
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

/** A required field. */
export function textField(body: Record<string, unknown>, name: string, longest = 1024): string {
  const value = optionalText(body, name, longest)
  if (value === null) throw invalid(`${name} is missing.`)
  return value
}

/** null: missing or empty. */
export function optionalText(body: Record<string, unknown>, name: string, longest = 1024): string | null {
  const value = body[name]
  if (value === undefined || value === null || value === '') return null
  if (typeof value !== 'string') throw invalid(`${name} must be text.`)
  if (value.length > longest) throw invalid(`${name} is too long.`)
  return value
}

function invalid(message: string): SignInRefused {
  return new SignInRefused('invalid', message, 'Reload the page and try again.')
}
