import type { AlertMessage } from '../../core/alert.ts'

/** Where the console shows what a message is about. `console`: its public URL. */
export function alertPage({ type, data }: Pick<AlertMessage, 'type' | 'data'>, console: string): string {
  return `${console.replace(/\/+$/, '')}${pageOf(type, data.resource)}`
}

function pageOf(type: AlertMessage['type'], resource: string): string {
  if (type === 'errors.high') return '/requests?errors=true'
  const colon = resource.indexOf(':')
  const name = resource.slice(colon + 1)
  switch (resource.slice(0, colon)) {
    case 'policy':
      return `/settings/policies?find=${encodeURIComponent(name)}`
    case 'provider':
      return `/providers/${encodeURIComponent(name)}`
    // Named with its project and environment, by which the page does not filter.
    case 'key':
      return `/keys?find=${encodeURIComponent(name.slice(name.lastIndexOf('/') + 1))}`
    default:
      return '/'
  }
}
