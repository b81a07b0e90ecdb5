import type { Provider } from '../../../store/api.ts'

/** Whose prices a provider has; null: nobody knows who is behind it. */
export function vendorOf({ kind, revision }: Provider): string | null {
  if (kind !== 'openai-compatible') return kind
  return typeof revision.settings.preset === 'string' ? revision.settings.preset : null
}
