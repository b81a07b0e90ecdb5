import { Link } from '@tanstack/react-router'
import { useLive } from '../../live/live.ts'
import { Snippets } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { allModels } from '../lane-models.ts'
import { writeSnippets } from './key-snippets.ts'
import { useScopeModels } from './use-scope-models.ts'

export interface KeySnippetsProps {
  scope: { project: string; environment: string }
  /** null: no longer known; a placeholder is used. */
  secret: string | null
}

/** Code that runs as it is pasted: base URL, key and a model that the key may use are in it. */
export function KeySnippets({ scope, secret }: KeySnippetsProps) {
  const { status } = useLive()
  const models = useScopeModels(scope)
  if (models === null) return null
  const snippets = writeSnippets({ gatewayUrl: status?.gateway_url ?? 'http://127.0.0.1:8787', key: secret, models })
  return (
    <div className="stack-tight">
      {allModels(models).length > 0 ? null : (
        <p className="notice notice-warning">
          <span>
            {scope.project}/{scope.environment} has no usable route yet. Replace MODEL with a model name, or add a route
            first.{' '}
            <Link to="/routing" search={(before) => ({ ...keepScope(before), add: 'choose' })}>
              Add route
            </Link>
          </span>
        </p>
      )}
      <Snippets label="Client" snippets={snippets} />
    </div>
  )
}
