import { escapeControls } from '../src/admin/contract/show-value.ts'
import type { TextTheme } from './screen.ts'
import { numberAt } from './status-watch.ts'

/** What is left to do until the first request, each step with its key; empty once one has come. */
export function drawSteps(status: unknown, hasRequests: boolean, theme: TextTheme): string[] {
  const sum = ['ready', 'failing', 'unchecked', 'inactive'].map((state) => numberAt(status, `providers.${state}`) ?? 0)
  const steps: [done: boolean, text: string, how: string][] = [
    [sum.some((count) => count > 0), 'Add a provider', '2, then a'],
    [(numberAt(status, 'routes') ?? 0) > 0, 'Add a route to it', '3, then a'],
    [(numberAt(status, 'keys') ?? 0) > 0, 'Create a key; it is shown once', '4, then a'],
    [hasRequests, 'Send a request with it', `curl ${gatewayUrl(status)}/v1/models -H "Authorization: Bearer $KEY"`],
  ]
  const next = steps.findIndex(([done]) => !done)
  if (next < 0 || hasRequests) return []
  const lines = steps.map(([done, text, how], position) => {
    if (done) return theme.paint('quiet', `  ✓ ${text}`)
    return position === next ? `  ▸ ${theme.paint('strong', text)}   ${how}` : `  ○ ${text}`
  })
  return [theme.paint('strong', 'Getting started'), ...lines]
}

function gatewayUrl(status: unknown): string {
  const url = typeof status === 'object' && status !== null ? Reflect.get(status, 'gateway_url') : undefined
  return typeof url === 'string' ? escapeControls(url) : ''
}
