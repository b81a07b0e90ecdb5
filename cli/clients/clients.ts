import { join } from 'node:path'
import type { EnvironmentVariables } from '../io.ts'
import type { ClientName } from './client-names.ts'
import { type FileEdit, setJson, setToml, setVariables } from './edits.ts'

/** What a client is told about the gateway. */
export interface ConnectTarget {
  /** `http://127.0.0.1:8787`, without a slash at its end. */
  gatewayUrl: string
  key: string
  /** null: the client's own choice. */
  model: string | null
}

export interface FileChange {
  path: string
  edit: FileEdit
  /** The gateway key goes into it: nobody else may read it. */
  holdsKey: boolean
}

export interface Client {
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

/** Where Codex finds the key: its own settings hold none. */
const keyVariable = 'SPGW_KEY'

/** Sources: each client's own documentation, as of November 2026; which URL each wants was tried with the clients themselves. */
export const clients: Record<ClientName, Client> = {
  'claude-code': {
    note: 'Restart claude; /status shows the base URL.',
    files: ({ gatewayUrl, key, model }, { home, environment }) => [
      {
        path: join(environment.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
        holdsKey: true,
        edit: setJson({
          'env.ANTHROPIC_BASE_URL': `${gatewayUrl}/v1/anthropic`,
          'env.ANTHROPIC_AUTH_TOKEN': key,
          // Both together are two credentials in one request, which the gateway refuses.
          'env.ANTHROPIC_API_KEY': null,
          ...(model === null ? {} : { 'env.ANTHROPIC_MODEL': model }),
        }),
      },
    ],
  },
  codex: {
    note: 'Restart codex. It reads the key from SPGW_KEY in its .env file.',
    files({ gatewayUrl, key, model }, { home, environment }) {
      const directory = environment.CODEX_HOME || join(home, '.codex')
      const values = { name: 'spgw', base_url: `${gatewayUrl}/v1`, env_key: keyVariable, wire_api: 'responses' }
      const top = { model_provider: 'spgw', ...(model === null ? {} : { model }) }
      return [
        {
          path: join(directory, 'config.toml'),
          holdsKey: false,
          edit: setToml({ top, table: { name: 'model_providers.spgw', values } }),
        },
        { path: join(directory, '.env'), holdsKey: true, edit: setVariables({ [keyVariable]: key }) },
      ]
    },
  },
  'gemini-cli': {
    note: 'Restart gemini. It ignores these settings in folders that it does not trust: set GEMINI_CLI_TRUST_WORKSPACE=true, or trust the folder when it asks.',
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
  'openai-env': {
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
