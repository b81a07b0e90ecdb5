import type { FormatName } from '../../core/format.ts'
import { asObject, asPositiveCount, type JsonObject } from '../../core/json/json-value.ts'
import type { CheckPlan, ListedProviderModel, Meaning, ProviderError } from '../contract.ts'
import { replacePath, splitBaseUrl } from './base-url.ts'
import { checkPassed, readModelList, readName } from './check-reading.ts'

/** What `openai` and `openai-compatible` share. */

export const openaiFormats: readonly FormatName[] = ['chat', 'responses']

/**
 * Chat completions refuse tools of models that reason, from GPT-5.4 on, and do not have Codex's and the `pro` models at all. Only names of
 * OpenAI's count: of a deployment or a server's model with a name of its own nobody knows.
 */
const onlyWholeInResponses =
  /gpt-(?:5\.(?:[4-9]|\d\d)|[6-9](?:\.\d+)?)(?!\d|(?:-mini|-nano)?-chat)|gpt-5[\w.-]*-(?:pro|codex)(?![a-z])|(?:^|\/)o[13]-pro(?![a-z])|codex-mini|(?:^|\/)o\d-(?:mini-)?deep-research/

/** Null: chat. */
export function preferResponses(model: string): 'responses' | null {
  return onlyWholeInResponses.test(model.toLowerCase()) ? 'responses' : null
}
export const chatOnly: readonly FormatName[] = ['chat']

const exhausted = new Set(['insufficient_quota', 'credit_balance_exhausted', 'billing_hard_limit_reached'])

/** A 429 that says the account is empty is no rate limit (contract.md rule 3). `vendors`: codes, types and words by which others say it. */
export function readOpenaiError(status: number, error: ProviderError, vendors: readonly string[] = []): Meaning | null {
  if (status !== 429) return null
  const own = exhausted.has(error.code) || exhausted.has(error.type)
  const theirs = vendors.some((word) => word === error.code || word === error.type || isIn(word, error.message))
  return own || theirs ? { verdict: 'quota-exhausted' } : null
}

/** A number among the words would mean anything. */
function isIn(word: string, message: string): boolean {
  return word.includes(' ') && message.includes(word)
}

/** Limits stand where the vendor puts them: vLLM, OpenRouter, Together, Groq, Mistral in this order. */
function readModel(entry: JsonObject): ListedProviderModel | null {
  const name = readName(entry)
  if (!name) return null
  const top = asObject(entry.top_provider)
  return {
    name,
    contextTokens:
      asPositiveCount(entry.max_model_len) ??
      asPositiveCount(entry.context_length) ??
      asPositiveCount(entry.context_window) ??
      asPositiveCount(entry.max_context_length),
    outputTokens: asPositiveCount(top?.max_completion_tokens) ?? asPositiveCount(entry.max_completion_tokens),
  }
}

const endpoints = /\/(chat\/completions|completions|responses|embeddings|models|chat)$/

function otherOpenaiSpelling(baseUrl: string): string | null {
  const base = splitBaseUrl(baseUrl)
  const bare = base.path.replace(endpoints, '')
  if (bare !== base.path) return replacePath(base, bare)
  const single = base.path.replace(/(\/v\d+)(\/v\d+)+$/, '$1')
  if (single !== base.path) return replacePath(base, single)
  // Some vendors serve their API without a version segment (Perplexity).
  if (/\/v\d+$/.test(base.path)) return replacePath(base, base.path.replace(/\/v\d+$/, ''))
  return /\/v\d+\//.test(base.path) ? null : replacePath(base, `${base.path}/v1`)
}

/** `listsModels` false: a vendor without a list, whose "not found" proves the address but not the credential. */
export function openaiCheck(listsModels: (settings: Record<string, unknown>) => boolean): CheckPlan {
  return {
    method: 'GET',
    path: '/models',
    provesCredential: listsModels,
    read(status, body, provider) {
      if (status === 404 && !listsModels(provider.settings)) {
        return checkPassed(
          [],
          'The provider answers; it has no model list, so the first call will prove the credential.',
        )
      }
      return readModelList(status, body, 'data', readModel)
    },
    otherSpelling: otherOpenaiSpelling,
  }
}
