/** A vendor with OpenAI's format, as data: adding one is adding a row here. A provider's setting `preset` names it. */
export interface Preset {
  name: string
  title: string
  /** As the vendor's documentation gives it to OpenAI's SDK; for self-hosted servers, their default port. */
  baseUrl: string
  credential: 'required' | 'optional'
  /** Body features that the vendor rejects instead of ignoring. */
  unsupported: readonly 'stream_options'[]
  /** Its usage has reasoning tokens in neither the completion nor the total (`UsageConvention`). */
  reasoningBeside: boolean
  /** Its models want their own `reasoning_content` of earlier turns back, which nobody signs. */
  reasoningBack: boolean
  /** It takes `cache_control` as Anthropic does, for models that cache what is marked. */
  cacheControl: boolean
  /** It has a member `reasoning` with a budget or an effort, for models that know one of them. */
  reasoningBudget: boolean
  /** It documents `logprobs` and `top_logprobs` of chat completions, with answers of OpenAI's form. */
  logprobs: boolean
  /** It documents `POST /responses`. */
  responses: boolean
  /** It has Responses over WebSocket. */
  responsesSocket: boolean
  /** False: there is no `GET /models`, or not for everybody. */
  listsModels: boolean
  /** How an error says that the account is out of credit: its code, its type, or words of its message. */
  exhausted: readonly string[]
  /** Other names for it in the files of LiteLLM and Portkey. */
  importNames: readonly string[]
  /** What an operator should know, in a sentence; null: nothing. */
  note: string | null
}

/** A server that people run themselves. */
const local = (name: string, title: string, baseUrl: string, more: Partial<Preset> = {}) =>
  vendor(name, title, baseUrl, { credential: 'optional', ...more })

function vendor(name: string, title: string, baseUrl: string, more: Partial<Preset> = {}): Preset {
  const usual = { unsupported: [], exhausted: [], importNames: [], note: null } as const
  const unusual = {
    reasoningBeside: false,
    reasoningBack: false,
    cacheControl: false,
    reasoningBudget: false,
    logprobs: false,
    responses: false,
    responsesSocket: false,
  }
  const facts = { ...unusual, listsModels: true }
  return { name, title, baseUrl, credential: 'required', ...facts, ...usual, ...more }
}

export const presets: readonly Preset[] = [
  local('vllm', 'vLLM', 'http://127.0.0.1:8000/v1', { logprobs: true, importNames: ['hosted_vllm'] }),
  local('ollama', 'Ollama', 'http://127.0.0.1:11434/v1', {
    importNames: ['ollama_chat'],
    note: 'Loads a model at its first call: allow a long first-byte limit.',
  }),
  local('llama-cpp', 'llama.cpp', 'http://127.0.0.1:8080/v1', {
    logprobs: true,
    note: 'Serves the one model it was started with, whatever name is asked for.',
  }),
  local('lm-studio', 'LM Studio', 'http://127.0.0.1:1234/v1', { importNames: ['lm_studio', 'lmstudio-ai'] }),
  local('sglang', 'SGLang', 'http://127.0.0.1:30000/v1', { logprobs: true }),
  vendor('cerebras', 'Cerebras', 'https://api.cerebras.ai/v1', { logprobs: true }),
  vendor('deepinfra', 'DeepInfra', 'https://api.deepinfra.com/v1/openai'),
  vendor('deepseek', 'DeepSeek', 'https://api.deepseek.com/v1', {
    logprobs: true,
    reasoningBack: true,
    note: 'Sends blank lines or comments while a request waits for its turn.',
  }),
  vendor('fireworks', 'Fireworks AI', 'https://api.fireworks.ai/inference/v1', {
    logprobs: true,
    responses: true,
    importNames: ['fireworks_ai', 'fireworks-ai'],
    note: 'Model names are paths: accounts/fireworks/models/NAME.',
  }),
  vendor('groq', 'Groq', 'https://api.groq.com/openai/v1', {
    responses: true,
    note: 'Answers 400 to logprobs, top_logprobs, logit_bias, names of messages, and n above 1.',
  }),
  vendor('huggingface', 'Hugging Face router', 'https://router.huggingface.co/v1', {
    responses: true,
    note: 'Model names may end in :PROVIDER to choose who serves them.',
  }),
  vendor('mistral', 'Mistral AI', 'https://api.mistral.ai/v1', {
    unsupported: ['stream_options'],
    importNames: ['mistral-ai'],
    note: 'Reports usage in the last chunk unasked.',
  }),
  vendor('moonshot', 'Moonshot AI', 'https://api.moonshot.ai/v1', {
    reasoningBack: true,
    exhausted: ['exceeded_current_quota_error'],
    note: 'Accounts of mainland China are at api.moonshot.cn.',
  }),
  vendor('nebius', 'Nebius Token Factory', 'https://api.tokenfactory.nebius.com/v1'),
  vendor('nvidia-nim', 'NVIDIA NIM', 'https://integrate.api.nvidia.com/v1', { importNames: ['nvidia_nim', 'nvidia'] }),
  vendor('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', {
    cacheControl: true,
    reasoningBudget: true,
    logprobs: true,
    responses: true,
    note: 'Sends comments while a model starts; answers 402 when credit runs out.',
  }),
  vendor('perplexity', 'Perplexity', 'https://api.perplexity.ai', {
    listsModels: false,
    reasoningBeside: true,
    importNames: ['perplexity-ai'],
    note: 'Its base URL has no version segment. Some models refuse stop and frequency_penalty.',
  }),
  vendor('sambanova', 'SambaNova', 'https://api.sambanova.ai/v1'),
  vendor('together', 'Together AI', 'https://api.together.xyz/v1', { importNames: ['together_ai', 'together-ai'] }),
  vendor('xai', 'xAI', 'https://api.x.ai/v1', {
    logprobs: true,
    responses: true,
    responsesSocket: true,
    exhausted: ['used all available credits'],
    importNames: ['x-ai'],
  }),
  vendor('zai', 'Z.ai', 'https://api.z.ai/api/paas/v4', {
    reasoningBack: true,
    listsModels: false,
    exhausted: ['1113'],
    importNames: ['z-ai'],
    note: 'Its base URL ends in v4; keys of the Coding Plan need https://api.z.ai/api/coding/paas/v4.',
  }),
]
