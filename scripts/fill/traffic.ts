/** What the invented traffic consists of. `weight` is a share of all requests; durations in milliseconds. */

export interface Application {
  key: string
  team: string
  userAgent: string
  address: string
  weight: number
  models: readonly string[]
}

export interface Model {
  name: string
  /** Of the route that serves it. */
  route: string
  lane: 'openai' | 'anthropic' | 'gemini'
  operation: string
  provider: string
  upstream: string
  /** Where it goes when the provider fails; null: nowhere. */
  fallback: { provider: string; upstream: string } | null
  firstByteMs: number
  tokensPerSecond: number
  input: number
  output: number
  /** USD per million tokens; null: nobody knows. */
  price: { input: number; output: number } | null
  streamedShare: number
}

export const applications: readonly Application[] = [
  {
    key: 'web',
    team: 'product',
    userAgent: 'OpenAI/JS 7.1.0',
    address: '10.1.4.20',
    weight: 38,
    models: ['gpt-4o-mini', 'gpt-4o', 'text-embedding-3-small'],
  },
  {
    key: 'support-bot',
    team: 'support',
    userAgent: 'Anthropic/Python 1.4.2',
    address: '10.1.7.31',
    weight: 24,
    models: ['claude-sonnet-4-5', 'claude-haiku-4-5'],
  },
  {
    key: 'search',
    team: 'search',
    userAgent: 'OpenAI/Python 2.8.1',
    address: '10.1.9.2',
    weight: 18,
    models: ['text-embedding-3-small', 'gpt-4o-mini'],
  },
  {
    key: 'batch',
    team: 'data',
    userAgent: 'google-genai-sdk/3.2.0',
    address: '10.2.0.14',
    weight: 12,
    models: ['gemini-2.5-flash', 'gemini-2.5-pro'],
  },
  {
    key: 'claude-code',
    team: 'engineering',
    userAgent: 'claude-cli/2.1.4',
    address: '10.3.8.77',
    weight: 6,
    models: ['claude-sonnet-4-5'],
  },
  { key: 'ci', team: 'engineering', userAgent: 'curl/8.11.0', address: '10.3.0.5', weight: 2, models: ['gpt-4o-mini'] },
]

const openai = { lane: 'openai', operation: 'chat', provider: 'openai', streamedShare: 0.7 } as const
const anthropic = { lane: 'anthropic', operation: 'messages', provider: 'anthropic', streamedShare: 0.9 } as const
const gemini = { lane: 'gemini', operation: 'generate', provider: 'gemini', streamedShare: 0.3 } as const

export const models: readonly Model[] = [
  {
    ...openai,
    name: 'gpt-4o-mini',
    route: 'gpt-4o*',
    upstream: 'gpt-4o-mini',
    fallback: { provider: 'azure', upstream: 'gpt4o-mini-eu' },
    firstByteMs: 310,
    tokensPerSecond: 95,
    input: 420,
    output: 140,
    price: { input: 0.15, output: 0.6 },
  },
  {
    ...openai,
    name: 'gpt-4o',
    route: 'gpt-4o*',
    upstream: 'gpt-4o',
    fallback: { provider: 'azure', upstream: 'gpt4o-eu' },
    firstByteMs: 480,
    tokensPerSecond: 70,
    input: 1100,
    output: 260,
    price: { input: 2.5, output: 10 },
  },
  {
    ...openai,
    operation: 'embeddings',
    name: 'text-embedding-3-small',
    route: 'text-embedding-3-small',
    upstream: 'text-embedding-3-small',
    fallback: null,
    firstByteMs: 90,
    tokensPerSecond: 1000,
    input: 350,
    output: 0,
    price: { input: 0.02, output: 0 },
    streamedShare: 0,
  },
  {
    ...anthropic,
    name: 'claude-sonnet-4-5',
    route: 'claude-*',
    upstream: 'claude-sonnet-4-5',
    fallback: null,
    firstByteMs: 840,
    tokensPerSecond: 62,
    input: 5200,
    output: 480,
    price: { input: 3, output: 15 },
  },
  {
    ...anthropic,
    name: 'claude-haiku-4-5',
    route: 'claude-*',
    upstream: 'claude-haiku-4-5',
    fallback: null,
    firstByteMs: 360,
    tokensPerSecond: 120,
    input: 900,
    output: 180,
    price: { input: 1, output: 5 },
  },
  {
    ...gemini,
    name: 'gemini-2.5-flash',
    route: 'gemini-*',
    upstream: 'gemini-2.5-flash',
    fallback: null,
    firstByteMs: 420,
    tokensPerSecond: 150,
    input: 2400,
    output: 320,
    price: { input: 0.3, output: 2.5 },
  },
  {
    ...gemini,
    name: 'gemini-2.5-pro',
    route: 'gemini-*',
    upstream: 'gemini-2.5-pro',
    fallback: null,
    firstByteMs: 1900,
    tokensPerSecond: 80,
    input: 3800,
    output: 900,
    price: null,
  },
]
