import { asObject } from '../../core/json/json-value.ts'
import type { Opaque } from '../../translate/conversation.ts'

const families = ['openai', 'anthropic', 'gemini', 'openrouter'] as const
const forms = ['signature', 'redacted', 'encrypted', 'thought', 'details'] as const

/** Reads an opaque value from a seal of the gateway; null: it is none. */
export function readOpaque(value: unknown): Opaque | null {
  const written = asObject(value)
  const family = families.find((each) => each === written?.family)
  const form = forms.find((each) => each === written?.form)
  if (family === undefined || form === undefined || typeof written?.value !== 'string') return null
  const opaque: Opaque = { family, form, value: written.value }
  if (typeof written.id === 'string') opaque.id = written.id
  return typeof written.provider === 'string' ? { ...opaque, provider: written.provider } : opaque
}
