import { isIP } from 'node:net'
import { usageFault } from './fault.ts'
import type { GlobalOptions } from './global-options.ts'
import { canAsk, type Io } from './io.ts'

/** A gateway elsewhere: its console's address, and the API token that it knows. */
export interface Remote {
  kind: 'remote'
  url: URL
  token: string
}

type RemoteOptions = Pick<GlobalOptions, 'remote' | 'dataDir' | 'tokenEnv' | 'tokenStdin' | 'insecure'>

/** The gateway that `--remote` or `$SPGW_REMOTE` names; null: the one of this machine. What was written beats the variable. */
export async function chooseRemote(settings: RemoteOptions, io: Io): Promise<Remote | null> {
  const { remote, dataDir } = settings
  if (remote !== null && dataDir !== null) {
    throw usageFault('--remote and --data-dir cannot be used together.', 'Remove one of them.')
  }
  const named = remote ?? (dataDir === null ? io.environment.SPGW_REMOTE : undefined)
  if (!named) return null
  const url = readUrl(named, settings.insecure)
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    await io.stderr.write(`Warning: the API token and all responses are sent unencrypted to ${url.host}.\n`)
  }
  return { kind: 'remote', url, token: await readToken(settings, io) }
}

function readUrl(text: string, insecure: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw usageFault(`${text} is not the URL of a console.`, 'Write it like https://gateway.example.com.')
  }
  if (url.username !== '' || url.password !== '') {
    throw usageFault(
      'The URL of --remote must not contain a user name or password.',
      'Set the API token in $SPGW_TOKEN.',
    )
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !insecure) {
    throw usageFault(
      `http://${url.host} would send the API token unencrypted.`,
      'Use https://, an SSH tunnel, or --insecure on a trusted network.',
    )
  }
  // The address as a browser shows it is good enough: operations stand below the origin.
  url.search = ''
  url.hash = ''
  return url
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'))
}

async function readToken({ tokenEnv, tokenStdin }: RemoteOptions, io: Io): Promise<string> {
  if (tokenEnv !== null && tokenStdin) {
    throw usageFault('--token-env and --token-stdin cannot be used together.', 'Remove one of them.')
  }
  const token = (await fetchToken(tokenEnv, tokenStdin, io)).trim()
  if (token === '') {
    const place = tokenStdin ? 'Standard input' : `The variable ${tokenEnv ?? 'SPGW_TOKEN'}`
    throw usageFault(
      `--remote requires an API token. ${place} contains none.`,
      'Set $SPGW_TOKEN, or use --token-env or --token-stdin.',
    )
  }
  // Anything else cannot stand in a header, and is not worth sending.
  if (!/^spt_[0-9A-Za-z]+$/.test(token)) {
    throw usageFault(
      'This is not an API token: API tokens begin with spt_.',
      'Gateway keys (sp_live_) are for model requests.',
    )
  }
  return token
}

async function fetchToken(variable: string | null, fromStdin: boolean, io: Io): Promise<string> {
  if (!fromStdin) return io.environment[variable ?? 'SPGW_TOKEN'] ?? ''
  return io.stdin.isTerminal && canAsk(io) ? io.prompter.askHidden('API token') : io.stdin.readAll()
}
