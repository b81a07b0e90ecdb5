import { parseSettingsFile } from '../../src/config/settings-file.ts'
import type { Converted } from '../../src/import/converted.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'

/** LiteLLM's file, given as an object. */
export function litellm(tree: unknown): Converted {
  return convertLitellm(parseSettingsFile(JSON.stringify(tree), 'source'))
}

/** Portkey's config, given as an object, for requests of `model`. */
export function portkey(tree: unknown, model = '*'): Converted {
  return convertPortkey(parseSettingsFile(JSON.stringify(tree), 'source'), model)
}

/** An entry of LiteLLM's `model_list`. */
export function entry(model_name: unknown, params: object = {}) {
  return { model_name, litellm_params: { model: 'openai/gpt-4o', ...params } }
}

/** What was not converted, and why. */
export function reasons({ left }: Converted): string[] {
  return left.map(({ what, reason }) => `${what}: ${reason}`)
}
