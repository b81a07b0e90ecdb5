import { Secret } from '../core/secrets/secret.ts'
import type { ProcessEnvironment } from './data-directory.ts'
import type { Settings } from './settings.ts'
import { SettingsRefused } from './settings-refused.ts'

/** The variables that programs agree on; written small they win, as everywhere. An empty one is not set. */
export function readProxies(environment: ProcessEnvironment): Settings['proxies'] {
  return {
    http: readProxy(environment, 'HTTP_PROXY'),
    https: readProxy(environment, 'HTTPS_PROXY'),
    except: environment.no_proxy || environment.NO_PROXY || '',
  }
}

function readProxy(environment: ProcessEnvironment, variable: string): Secret | null {
  const small = variable.toLowerCase()
  const place = environment[small] ? small : variable
  const text = environment[place]
  if (!text) return null
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new Secret(url)
  // The value is not told: it may hold a password.
  throw new SettingsRefused([{ place, message: 'not a usable proxy; write it as http://host:port' }])
}
