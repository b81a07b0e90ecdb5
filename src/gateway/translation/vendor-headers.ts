import type { FormatName } from '../../core/format.ts'

/** Headers that only one vendor, or its client, understands. */
const vendorPrefixes = [
  'anthropic-',
  'openai-',
  'x-goog-',
  'x-gemini-',
  'x-stainless-',
  'x-codex-',
  'chatgpt-',
  'x-openai-',
]
const vendorNames = new Set(['accept', 'originator', 'session_id', 'conversation_id', 'x-app', 'version'])

/** Headers with which a client asks for beta features. */
const betas = /^(?:anthropic|openai)-beta$/
const betaOf: Readonly<Record<FormatName, string>> = {
  chat: 'openai-beta',
  responses: 'openai-beta',
  messages: 'anthropic-beta',
  generate: '',
}

/** Families of headers that may ask for something. */
const asking = /^(?:anthropic|openai|x-goog)-/
/** Exceptions: how the client speaks to its vendor, and account names, which the gateway replaces for every provider. */
const silent =
  /^(?:anthropic-(?:version|dangerous-direct-browser-access|workspace-id)|openai-(?:organization|project|intent)|x-goog-(?:api-client|api-key|user-project|request-params|fieldmask))$/
/** Betas that change nothing elsewhere, or only allow members of the body, whose losses are listed by themselves. */
const silentBetas =
  /^(?:claude-code|oauth|interleaved-thinking|adaptive-thinking|fine-grained-tool-streaming|token-efficient-tools|token-counting|prompt-caching|extended-cache-ttl|cache-diagnosis|structured-outputs|effort|task-budgets|fast-mode|context-management|compact|files-api|pdfs|skills|mcp-client|computer-use|code-execution|web-fetch|web-search|search-results|advanced-tool-use|tool-search-tool|tool-examples|redact-thinking|thinking-token-count|mid-conversation-system|advisor-tool|summarize-connector-text|context-hint|afk-mode|max-tokens|message-threads|output-128k|model-context-window-exceeded)-|^(?:assistants|responses|responses_websockets|realtime)=/

/** The client's headers without those of its own vendor. Beta features of the provider's own vendor are kept. */
export function neutralHeaders(raw: readonly string[], to: FormatName): string[] {
  const kept: string[] = []
  for (const [name, value] of pairs(raw)) {
    const isOfVendor = vendorNames.has(name) || vendorPrefixes.some((prefix) => name.startsWith(prefix))
    if (!isOfVendor || name === betaOf[to]) kept.push(name, value)
  }
  return kept
}

/**
 * Headers that ask for something that the provider does not get. A strict route does not refuse them: each version of an agent sends
 * others.
 */
export function lostHeaders(raw: readonly string[], to: FormatName): string[] {
  return [...pairs(raw)].flatMap(([name, value]) => {
    if (!asking.test(name) || silent.test(name) || name === betaOf[to]) return []
    if (!betas.test(name)) return [`headers.${name}`]
    const asked = value.split(',').map((one) => one.trim())
    return asked.filter((one) => one !== '' && !silentBetas.test(one)).map((one) => `headers.${name}.${one}`)
  })
}

function* pairs(raw: readonly string[]): Generator<readonly [string, string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index]?.toLowerCase() ?? '', raw[index + 1] ?? '']
}
