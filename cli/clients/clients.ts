import { join } from 'node:path'
import type { LaneName } from '../../src/core/lane.ts'
import type { EnvironmentVariables } from '../io.ts'
import type { ClientName } from './client-names.ts'
import { type FileEdit, setJson, setText, setToml, setVariables, setYaml, setYamlEntries } from './edits.ts'

/** What a client is told about the gateway. */
export interface ConnectTarget {
  /** `http://127.0.0.1:8787`, without a slash at its end. */
  gatewayUrl: string
  key: string
  /** null: the client's own choice. */
  model: string | null
  /** What the lane's model list shows for the key; read only for a client that `listsModels`. */
  models: readonly UsableModel[]
  /** Settings that are used on demand, beside the client's usual ones; null: the usual ones. Only for a client that `hasProfiles`. */
  profile: string | null
}

export interface UsableModel {
  model: string
  context_tokens: number | null
  output_tokens: number | null
  /** A route takes it, and no list has it. */
  unlisted?: true
}

export interface FileChange {
  path: string
  edit: FileEdit
  /** The gateway key goes into it: nobody else may read it. */
  holdsKey: boolean
}

export interface Client {
  lane: LaneName
  /** Its settings name every model that it may use. */
  listsModels?: true
  /** It has no model of its own to fall back on. */
  needsModel?: true
  /** It keeps settings that are used on demand under a name. */
  hasProfiles?: true
  /** Its settings hold no key: it is shown instead, once. */
  asksForKey?: true
  /** Where its settings stand, and what changes there. */
  files(target: ConnectTarget, places: ClientPaths): FileChange[]
  /** Printed as what a shell takes, where nothing is written. */
  asShell?: true
  /** Said when all is done. */
  note: string
}

export interface ClientPaths {
  home: string
  /** Where the command was called: for what belongs to a project. */
  here: string
  environment: EnvironmentVariables
}

/** What Claude Code asks for by role instead of by the chosen name. */
const claudeRoles = [
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'CLAUDE_CODE_SUBAGENT_MODEL',
]

/** Whether a model's name says that it is of a vendor's family: `o` is followed by a digit. */
function isOf(model: string, family: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return family === 'o' ? /^o\d/.test(name) : name.startsWith(family)
}

/** OpenAI's, and not one that others serve. */
function isOpenai(model: string): boolean {
  return ['gpt-', 'o', 'codex'].some((family) => isOf(model, family)) && !isOf(model, 'gpt-oss')
}

/** Where Codex finds the key: its own settings hold none. */
const keyVariable = 'SPGW_KEY'

/** Sources: each client's own documentation, as of November 2026, tried with the clients themselves (zed: by its documentation only). */
export const clients: Record<ClientName, Client> = {
  'claude-code': {
    lane: 'anthropic',
    note: 'Restart claude; /status shows the base URL, /model the models of the gateway.',
    files: ({ gatewayUrl, key, model }, { home, environment }) => [
      {
        path: join(environment.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
        holdsKey: true,
        edit: setJson({
          'env.ANTHROPIC_BASE_URL': `${gatewayUrl}/v1/anthropic`,
          'env.ANTHROPIC_AUTH_TOKEN': key,
          // An exported one would be sent as well: two credentials in one request, which the gateway refuses.
          'env.ANTHROPIC_API_KEY': '',
          // Without it /model offers only the names that the client knows.
          'env.CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY': '1',
          ...(model === null ? {} : { 'env.ANTHROPIC_MODEL': model }),
          // Without these it asks for Claude's smaller models in the background, and in agents of its own.
          ...(model === null || isOf(model, 'claude')
            ? {}
            : Object.fromEntries(claudeRoles.map((role) => [`env.${role}`, model]))),
        }),
      },
    ],
  },
  codex: {
    lane: 'openai',
    hasProfiles: true,
    note: 'Restart codex. It reads the key from SPGW_KEY in its .env file. A profile is used with codex --profile NAME.',
    files({ gatewayUrl, key, model, profile }, { home, environment }) {
      const directory = environment.CODEX_HOME || join(home, '.codex')
      const values = { name: 'spgw', base_url: `${gatewayUrl}/v1`, env_key: keyVariable, wire_api: 'responses' }
      const top = {
        model_provider: 'spgw',
        ...(model === null ? {} : { model }),
        // OpenAI runs this search itself: few other providers have one, and a request that asks for it is refused by the rest.
        ...(model === null || isOpenai(model) ? {} : { web_search: 'disabled' }),
      }
      return [
        {
          path: join(directory, profile === null ? 'config.toml' : `${profile}.config.toml`),
          holdsKey: false,
          edit: setToml({ top, table: { name: 'model_providers.spgw', values } }),
        },
        { path: join(directory, '.env'), holdsKey: true, edit: setVariables({ [keyVariable]: key }) },
      ]
    },
  },
  'gemini-cli': {
    lane: 'gemini',
    note: 'Restart gemini. An exported GEMINI_API_KEY or GOOGLE_GEMINI_BASE_URL beats these settings: unset it. Gemini CLI ignores them in folders that it does not trust: set GEMINI_CLI_TRUST_WORKSPACE=true, or trust the folder when it asks.',
    files({ gatewayUrl, key, model }, { home }) {
      const directory = join(home, '.gemini')
      const variables = {
        GOOGLE_GEMINI_BASE_URL: `${gatewayUrl}/v1/gemini`,
        GEMINI_API_KEY: key,
        ...(model === null ? {} : { GEMINI_MODEL: model }),
      }
      return [
        { path: join(directory, '.env'), holdsKey: true, edit: setVariables(variables) },
        {
          // With any other way to sign in the base URL is not looked at.
          path: join(directory, 'settings.json'),
          holdsKey: false,
          edit: setJson({ 'security.auth.selectedType': 'gemini-api-key' }),
        },
      ]
    },
  },
  opencode: {
    lane: 'openai',
    listsModels: true,
    note: 'Restart opencode; /models lists the models of the gateway.',
    files: ({ gatewayUrl, key, model, models }, { home, environment }) => [
      {
        path: join(environment.XDG_CONFIG_HOME || join(home, '.config'), 'opencode', 'opencode.json'),
        holdsKey: true,
        edit: setJson({
          'provider.spgw': {
            npm: '@ai-sdk/openai-compatible',
            name: 'spgw',
            options: { baseURL: `${gatewayUrl}/v1`, apiKey: key },
            models: Object.fromEntries(models.map((one) => [one.model, opencodeModel(one)])),
          },
          ...(model === null ? {} : { model: `spgw/${model}`, small_model: `spgw/${model}` }),
        }),
      },
    ],
  },
  'qwen-code': {
    lane: 'openai',
    needsModel: true,
    note: 'Restart qwen. An exported OPENAI_API_KEY, OPENAI_BASE_URL or OPENAI_MODEL beats these settings: unset it.',
    files({ gatewayUrl, key, model }, { home }) {
      const directory = join(home, '.qwen')
      const variables = { OPENAI_BASE_URL: `${gatewayUrl}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: model ?? '' }
      return [
        { path: join(directory, '.env'), holdsKey: true, edit: setVariables(variables) },
        {
          path: join(directory, 'settings.json'),
          holdsKey: false,
          edit: setJson({ 'security.auth.selectedType': 'openai', ...(model === null ? {} : { 'model.name': model }) }),
        },
      ]
    },
  },
  pi: {
    lane: 'openai',
    listsModels: true,
    note: 'Restart pi; /model lists the models of the gateway.',
    files({ gatewayUrl, key, model, models }, { home, environment }) {
      const directory = environment.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent')
      const provider = {
        baseUrl: `${gatewayUrl}/v1`,
        api: 'openai-completions',
        apiKey: key,
        models: models.map(({ model: id, context_tokens, output_tokens }) => ({
          id,
          ...(context_tokens === null ? {} : { contextWindow: context_tokens }),
          ...(output_tokens === null ? {} : { maxTokens: output_tokens }),
        })),
      }
      const chosen = { defaultProvider: 'spgw', defaultModel: model ?? models[0]?.model ?? null }
      return [
        { path: join(directory, 'models.json'), holdsKey: true, edit: setJson({ 'providers.spgw': provider }) },
        { path: join(directory, 'settings.json'), holdsKey: false, edit: setJson(chosen) },
      ]
    },
  },
  aider: {
    lane: 'openai',
    needsModel: true,
    note: 'Restart aider. An exported OPENAI_API_BASE, or a .aider.conf.yml in the repository, beats these settings.',
    files: ({ gatewayUrl, key, model }, { home }) => [
      {
        path: join(home, '.aider.conf.yml'),
        holdsKey: true,
        edit: setYaml({
          'openai-api-base': `${gatewayUrl}/v1`,
          'openai-api-key': key,
          // The part before the slash says which format aider speaks.
          model: `openai/${model}`,
        }),
      },
    ],
  },
  continue: {
    lane: 'openai',
    listsModels: true,
    note: 'Reload the editor, or restart cn; the models are listed as "spgw: NAME".',
    files: ({ gatewayUrl, key, model, models }, { home, environment }) => [
      {
        path: join(environment.CONTINUE_GLOBAL_DIR || join(home, '.continue'), 'config.yaml'),
        holdsKey: true,
        edit: setYamlEntries(
          ['models'],
          chosenFirst(models, model).map((one) => ({
            name: `spgw: ${one.model}`,
            provider: 'openai',
            model: one.model,
            apiBase: `${gatewayUrl}/v1`,
            apiKey: key,
            roles: ['chat', 'edit', 'apply'],
          })),
          ({ name }) => String(name).startsWith('spgw: '),
          { name: 'spgw', version: '1.0.0', schema: 'v1' },
        ),
      },
    ],
  },
  llm: {
    lane: 'openai',
    listsModels: true,
    note: 'llm models lists the models of the gateway, behind "spgw/".',
    files({ gatewayUrl, key, model, models }, { home, environment }) {
      const directory = environment.LLM_USER_PATH || join(home, '.config', 'io.datasette.llm')
      const entries = models.map(({ model: name }) => ({
        model_id: `spgw/${name}`,
        model_name: name,
        api_base: `${gatewayUrl}/v1`,
        api_key_name: 'spgw',
      }))
      const isOurs = ({ api_key_name }: { [name: string]: unknown }) => api_key_name === 'spgw'
      const extra = join(directory, 'extra-openai-models.yaml')
      return [
        { path: extra, holdsKey: false, edit: setYamlEntries([], entries, isOurs) },
        { path: join(directory, 'keys.json'), holdsKey: true, edit: setJson({ spgw: key }) },
        ...(model === null
          ? []
          : [{ path: join(directory, 'default_model.txt'), holdsKey: false, edit: setText(`spgw/${model}`) }]),
      ]
    },
  },
  zed: {
    lane: 'openai',
    listsModels: true,
    asksForKey: true,
    note: 'Zed keeps keys in the keychain of the system: run "agent: open settings", choose spgw and paste the key. Or start Zed with SPGW_API_KEY set to it.',
    files: ({ gatewayUrl, model, models }, { home, environment }) => [
      {
        path: join(environment.XDG_CONFIG_HOME || join(home, '.config'), 'zed', 'settings.json'),
        holdsKey: false,
        edit: setJson({
          'language_models.openai_compatible.spgw': {
            api_url: `${gatewayUrl}/v1`,
            available_models: models.map(({ model: name, context_tokens, output_tokens }) => ({
              name,
              display_name: name,
              // Zed has no default for it.
              max_tokens: context_tokens ?? 128_000,
              ...(output_tokens === null ? {} : { max_output_tokens: output_tokens }),
              capabilities: { tools: true, images: true, parallel_tool_calls: true, prompt_cache_key: false },
            })),
          },
          ...(model === null ? {} : { 'agent.default_model': { provider: 'spgw', model } }),
        }),
      },
    ],
  },
  'openai-env': {
    lane: 'openai',
    asShell: true,
    note: 'Keep the file out of version control.',
    files: ({ gatewayUrl, key, model }, { here }) => [
      {
        path: join(here, '.env'),
        holdsKey: true,
        edit: setVariables({
          OPENAI_BASE_URL: `${gatewayUrl}/v1`,
          OPENAI_API_KEY: key,
          ...(model === null ? {} : { OPENAI_MODEL: model }),
        }),
      },
    ],
  },
}

function opencodeModel({ model, context_tokens, output_tokens }: UsableModel) {
  const known = context_tokens !== null && output_tokens !== null
  return { name: model, ...(known ? { limit: { context: context_tokens, output: output_tokens } } : {}) }
}

/** Clients take the first for their default. */
function chosenFirst(models: readonly UsableModel[], chosen: string | null): UsableModel[] {
  return [...models].sort((one, other) => Number(other.model === chosen) - Number(one.model === chosen))
}
