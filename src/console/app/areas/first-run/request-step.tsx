import { useLive } from '../../live/live.ts'
import { Code, Snippets } from '../../parts/index.ts'
import { firstSnippets } from './first-snippets.ts'

/** The key, once, and the lines that use it. */
export function RequestStep({ secret, model }: { secret: string | null; model: string }) {
  const { status } = useLive()
  const url = status?.gateway_url ?? 'http://127.0.0.1:8787'
  return (
    <div className="stack">
      {secret === null ? (
        <p className="quiet">The key was shown when it was created. Replace $SPGW_KEY with it.</p>
      ) : (
        <div className="stack-tight">
          <p>Your key, shown only once:</p>
          <Code text={secret} label="Copy key" />
        </div>
      )}
      <Snippets label="Code examples" snippets={firstSnippets(url, model, secret ?? '$SPGW_KEY')} />
    </div>
  )
}
