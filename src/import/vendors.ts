import { presets } from '../providers/presets.ts'

export type Cloud = 'azure-openai' | 'bedrock' | 'vertex'

/** What another program's name of a vendor is here; `kind` null: this gateway has no such kind. */
export interface Vendor {
  kind: 'openai' | 'anthropic' | 'gemini' | 'openai-compatible' | null
  /** What it is, if a cloud (`cloud.ts`). */
  cloud?: Cloud
  preset?: string
  /** The variable in which that program looks for the credential where its file names none. */
  variable?: string
  /** It cannot do without an address of its own. */
  needsAddress?: true
}

const own: Record<string, Vendor> = {
  openai: { kind: 'openai', variable: 'OPENAI_API_KEY' },
  anthropic: { kind: 'anthropic', variable: 'ANTHROPIC_API_KEY' },
  gemini: { kind: 'gemini', variable: 'GEMINI_API_KEY' },
}

/** Their names of vendors that are presets here, where they differ from ours. */
const otherNames: Record<string, string> = {
  together_ai: 'together',
  'together-ai': 'together',
  fireworks_ai: 'fireworks',
  'fireworks-ai': 'fireworks',
  'mistral-ai': 'mistral',
  'perplexity-ai': 'perplexity',
  nvidia_nim: 'nvidia-nim',
  nvidia: 'nvidia-nim',
  'x-ai': 'xai',
  ollama_chat: 'ollama',
  hosted_vllm: 'vllm',
  lm_studio: 'lm-studio',
  'z-ai': 'zai',
  'lmstudio-ai': 'lm-studio',
}

const aliases: Record<string, string> = { 'text-completion-openai': 'openai', google: 'gemini', 'open-ai': 'openai' }
const anyServer = ['custom_openai', 'openai_like', 'litellm_proxy', 'llamafile', 'xinference', 'custom-host']
const clouds: Record<string, Cloud> = {
  azure: 'azure-openai',
  azure_text: 'azure-openai',
  'azure-openai': 'azure-openai',
  bedrock: 'bedrock',
  vertex_ai: 'vertex',
  vertex_ai_beta: 'vertex',
  'vertex-ai': 'vertex',
}

/** Vendors with a format or a way of signing of their own. */
const notHere = [
  'azure_ai',
  'azure-ai',
  'sagemaker',
  'cohere',
  'cohere_chat',
  'replicate',
  'watsonx',
  'databricks',
  'cloudflare',
  'workers-ai',
  'ai21',
  'voyage',
  'jina_ai',
  'predibase',
  'oci',
  'github',
  'github_copilot',
  'anyscale',
  'stability-ai',
]

/** null: the name says nothing here. */
export function findVendor(name: string): Vendor | null {
  const known = aliases[name] ?? name
  if (Object.hasOwn(own, known)) return own[known] ?? null
  const preset = otherNames[known] ?? known
  if (presets.some((one) => one.name === preset)) {
    const variable = `${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_API_KEY`
    const required = presets.find((one) => one.name === preset)?.credential === 'required'
    return { kind: 'openai-compatible', preset, ...(required ? { variable } : {}) }
  }
  if (anyServer.includes(known)) return { kind: 'openai-compatible', needsAddress: true }
  const cloud = Object.hasOwn(clouds, known) ? clouds[known] : undefined
  if (cloud !== undefined) return { kind: null, cloud }
  return notHere.includes(known) ? { kind: null } : null
}

/** Of a model that is named without its vendor. */
export function guessVendor(model: string): string | null {
  if (/^(gpt-|o[134](-|$)|chatgpt-|text-embedding-|dall-e|whisper|tts-|omni-moderation)/.test(model)) return 'openai'
  if (/^claude-/.test(model)) return 'anthropic'
  if (/^gemini-/.test(model)) return 'gemini'
  return null
}

/** Why a vendor's models are left out. */
export function explainAbsence(name: string): string {
  return `this gateway has no provider kind for ${JSON.stringify(name)}`
}
