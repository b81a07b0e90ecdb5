/** A vendor that speaks OpenAI's format, as data: a new one is one row. Settings of the kind name it by `preset`. */
export interface Preset {
  name: string
  title: string
  /** As the vendor's documentation gives it to OpenAI's SDK; for servers one runs oneself, their default port. */
  baseUrl: string
  credential: 'required' | 'optional'
  /** Body features that the vendor refuses instead of ignoring. */
  lacks: readonly 'stream_options'[]
  /** False: there is no `GET /models`, or not for everybody. */
  listsModels: boolean
  /** How an error says that the account is empty: its code, its type, or words of its message. */
  exhausted: readonly string[]
  /** What an operator should know, in a sentence; null when there is nothing. */
  note: string | null
}

export const presets = [
  local('vllm', 'vLLM', 'http://127.0.0.1:8000/v1'),
  local(
    'ollama',
    'Ollama',
    'http://127.0.0.1:11434/v1',
    'Loads a model at its first call: allow a long first-byte limit.',
  ),
  local(
    'llama-cpp',
    'llama.cpp',
    'http://127.0.0.1:8080/v1',
    'Serves the one model it was started with, whatever name is asked for.',
  ),
  local('lm-studio', 'LM Studio', 'http://127.0.0.1:1234/v1'),
  local('sglang', 'SGLang', 'http://127.0.0.1:30000/v1'),
  vendor('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1'),
  vendor('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai'),
  vendor(
    'deepseek',
    'DeepSeek',
    'https://api.deepseek.com/v1',
    'Sends blank lines or comments while a request waits for its turn.',
  ),
  vendor(
    'fireworks',
    'Fireworks AI',
    'https://api.fireworks.ai/inference/v1',
    'Model names are paths: accounts/fireworks/models/NAME.',
  ),
  vendor(
    'groq',
    'Groq',
    'https://api.groq.com/openai/v1',
    'Answers 400 to logprobs, top_logprobs, logit_bias, names of messages, and n above 1.',
  ),
  vendor(
    'huggingface',
    'Hugging Face router',
    'https://router.huggingface.co/v1',
    'Model names may end in :PROVIDER to choose who serves them.',
  ),
  {
    ...vendor('mistral', 'Mistral AI', 'https://api.mistral.ai/v1'),
    lacks: ['stream_options'],
    note: 'Reports usage in the last chunk unasked.',
  },
  {
    ...vendor(
      'moonshot',
      'Moonshot AI',
      'https://api.moonshot.ai/v1',
      'Accounts of mainland China are at api.moonshot.cn.',
    ),
    exhausted: ['exceeded_current_quota_error'],
  },
  vendor('nebius', 'Nebius Token Factory', 'https://api.tokenfactory.nebius.com/v1'),
  vendor('nvidia-nim', 'NVIDIA NIM', 'https://integrate.api.nvidia.com/v1'),
  vendor(
    'openrouter',
    'OpenRouter',
    'https://openrouter.ai/api/v1',
    'Sends comments while a model starts; answers 402 when credit runs out.',
  ),
  {
    ...vendor('perplexity', 'Perplexity', 'https://api.perplexity.ai'),
    listsModels: false,
    note: 'Its base URL has no version segment. Some models refuse stop and frequency_penalty.',
  },
  vendor('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1'),
  vendor('together', 'Together AI', 'https://api.together.xyz/v1'),
  { ...vendor('xai', 'xAI', 'https://api.x.ai/v1'), exhausted: ['used all available credits'] },
  {
    ...vendor('zai', 'Z.ai', 'https://api.z.ai/api/paas/v4'),
    listsModels: false,
    exhausted: ['1113'],
    note: 'Its base URL ends in v4; keys of the Coding Plan need https://api.z.ai/api/coding/paas/v4.',
  },
] as const satisfies readonly Preset[]

const byName: ReadonlyMap<string, Preset> = new Map(presets.map((preset) => [preset.name, preset]))

/** The preset that a provider's settings name; null when they name none. */
export function findPreset(settings: Readonly<Record<string, unknown>>): Preset | null {
  return typeof settings.preset === 'string' ? (byName.get(settings.preset) ?? null) : null
}

function local(name: string, title: string, baseUrl: string, note: string | null = null): Preset {
  return { name, title, baseUrl, credential: 'optional', lacks: [], listsModels: true, exhausted: [], note }
}

function vendor(name: string, title: string, baseUrl: string, note: string | null = null): Preset {
  return { name, title, baseUrl, credential: 'required', lacks: [], listsModels: true, exhausted: [], note }
}
