import type { GatewayState } from './gateway-state.ts'
import { type Markup, markup } from './markup.ts'

interface Step {
  title: string
  done: boolean
  command: string
}

/** The way to the first request, each step with its command; the first that is not done stands out. */
export function renderSetup(state: GatewayState): Markup {
  const steps = stepsOf(state)
  const next = steps.findIndex(({ done }) => !done)
  const title = next === -1 ? 'Everything is set up' : 'Get to your first request'
  const rows = steps.map(({ title, done, command }, index) => {
    const [name, mark, word] = done
      ? ['done', '✓', 'done']
      : index === next
        ? ['next', '▸', 'next']
        : ['open', '○', 'open']
    return markup`<li class="step ${name}"><span class="mark" role="img" aria-label="${word}">${mark}</span>
<div><b>${title}</b><pre>${command}</pre></div></li>`
  })
  return markup`<h2>${title}</h2>
<p class="quiet">Run these on this machine. Where the data directory is not the command's own, say so first: <code>export SPGW_DATA_DIR=${quoteWord(state.dataDirectory)}</code></p>
<ol class="list">${rows}</ol>`
}

function stepsOf(state: GatewayState): Step[] {
  const model = state.exampleModel ?? 'gpt-4o-mini'
  const hasRequest = state.requestsSinceStart > 0
  return [
    {
      title: 'Add a provider',
      done: state.providers.length > 0,
      command: `printf %s "$OPENAI_API_KEY" | spgw providers add openai --kind openai --credential-stdin`,
    },
    {
      title: 'Add a route',
      done: state.routes > 0,
      command: 'spgw routes add gpt-4o-mini --provider openai',
    },
    {
      title: 'Create a key, shown once',
      done: state.keys > 0,
      command: 'KEY=$(spgw keys create --name ci)',
    },
    {
      title: 'Send a request',
      done: hasRequest,
      command: `curl -s ${state.gatewayUrl}/v1/chat/completions -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"hello"}]}'`,
    },
    { title: 'See it', done: hasRequest, command: 'spgw requests tail' },
  ]
}

/** As one word of the shell, whatever is in it. */
function quoteWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
