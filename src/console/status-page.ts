import type { GatewayState, ProviderState } from './gateway-state.ts'
import { type Markup, markup } from './markup.ts'
import { renderPage } from './page-frame.ts'
import { renderSetup } from './setup-steps.ts'

/** `/`: how the gateway is at this moment, and what to do next. */
export function renderStatus(version: string, state: GatewayState): string {
  const degraded = state.parts.filter(({ reason }) => reason !== null)
  const summary = degraded.length === 0 ? 'Ready' : `Degraded: ${degraded.map(({ part }) => part).join(', ')}`
  const notices = degraded.map(
    ({ part, reason, since }) =>
      markup`<p class="notice"><b>Degraded: ${part}</b>${since === null ? '' : ` since ${writeTime(since)}`}<b>.</b> ${reason ?? ''}</p>`,
  )
  if (state.setAside.length > 0)
    notices.push(
      markup`<p class="notice"><b>Set aside:</b> ${state.setAside.length} parts of the journal could not be read; they are kept below <code>journal/set-aside</code>.</p>`,
    )
  return renderPage(
    `spgw: ${summary.toLowerCase()}`,
    markup`
<header><h1>spgw</h1><span class="quiet">${version}</span>
<span class="state ${degraded.length === 0 ? 'good' : 'warn'}">${summary}</span></header>
${notices}
<dl class="facts">
<div><dt>Gateway</dt><dd><code>${state.gatewayUrl}</code></dd></div>
<div><dt>Data directory</dt><dd><code>${state.dataDirectory}</code></dd></div>
</dl>
<dl>${figures(state)}</dl>
<h2>Providers</h2>
${renderProviders(state.providers)}
${renderSetup(state)}
<footer><a href="/metrics">Metrics</a><a href="/api/openapi.json">API description</a>
<span class="quiet">Running since ${writeTime(state.startedAt)}. Signing in to the console is not part of this version.</span></footer>`,
  )
}

/** What everybody else sees, who may be anywhere. */
export function renderElsewhere(port: number): string {
  return renderPage(
    'spgw',
    markup`
<header><h1>spgw</h1></header>
<p>Signing in to the console is not part of this version, so this page shows itself on the gateway's own machine only, under its local address.</p>
<p class="quiet">From elsewhere, lead the console's port here and open <code>http://127.0.0.1:${port}</code>:</p>
<pre>ssh -L ${port}:127.0.0.1:${port} MACHINE</pre>
<p></p>
<p class="quiet">On the machine, the same in a terminal:</p>
<pre>spgw status</pre>`,
  )
}

function figures(state: GatewayState): Markup[] {
  const shown: [string, number | string][] = [
    ['Requests', count(state.requestsSinceStart)],
    ['In flight', count(state.inFlight)],
    ['Routes', count(state.routes)],
    ['Keys', count(state.keys)],
    ['Threads', count(state.workers)],
    ['Database', writeBytes(state.databaseBytes)],
  ]
  return shown.map(([name, value]) => markup`<div><dt>${name}</dt><dd>${value}</dd></div>`)
}

const words: Record<ProviderState['state'], { tone: string; word: string }> = {
  ready: { tone: 'good', word: 'Ready' },
  unchecked: { tone: 'off', word: 'Not checked yet' },
  failing: { tone: 'bad', word: 'Failing' },
  resting: { tone: 'warn', word: 'Resting: every credential waits' },
  open: { tone: 'warn', word: 'Set aside after failures; tried again soon' },
  probing: { tone: 'warn', word: 'Being tried again' },
  inactive: { tone: 'off', word: 'Inactive' },
}

function renderProviders(providers: readonly ProviderState[]): Markup {
  if (providers.length === 0)
    return markup`<ul class="list"><li class="quiet">No provider yet. The setup below begins with one.</li></ul>`
  const rows = providers.map(({ name, kind, state, reason }) => {
    const { tone, word } = words[state]
    const why = reason === null ? '' : markup`: <span class="quiet">${reason}</span>`
    return markup`<li class="provider"><b>${name}</b><span class="quiet">${kind}</span>
<span class="state ${tone}"><span>${word}${why}</span></span></li>`
  })
  return markup`<ul class="list">${rows}</ul>`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function writeBytes(value: number | null): string {
  if (value === null) return '–'
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
  const scaled = value / 1000 ** power
  return `${scaled < 10 && power > 0 ? scaled.toFixed(1) : Math.round(scaled)} ${units[power]}`
}

function writeTime(time: string): string {
  return `${time.slice(0, 19).replace('T', ' ')} UTC`
}
