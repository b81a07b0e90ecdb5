import { useId } from 'react'
import { Button, CopyButton } from '../../parts/index.ts'
import { bodyOf, type Draft, pathOf } from './playground-state.ts'

/** What will be sent, as it is. Changed by hand it is sent so, and the controls above no longer count. */
export function RawRequest({ draft, onChange }: { draft: Draft; onChange(part: Partial<Draft>): void }) {
  const id = useId()
  const body = bodyOf(draft)
  return (
    <details className="fold">
      <summary>Raw request</summary>
      <div className="stack-tight below">
        <div className="row spread">
          <code className="breakable grow">POST {pathOf(draft)}</code>
          <CopyButton text={body} label="Copy body" />
        </div>
        <label htmlFor={id} className="visually-hidden">
          Body
        </label>
        <textarea
          id={id}
          className="input mono"
          rows={Math.min(18, body.split('\n').length + 1)}
          spellCheck={false}
          value={body}
          onChange={(event) => onChange({ body: event.target.value })}
        />
        {draft.body === null ? null : (
          <p className="row small">
            Edited by hand. This body is sent, and the fields above are ignored.
            <Button small onClick={() => onChange({ body: null })}>
              Discard edits
            </Button>
          </p>
        )}
      </div>
    </details>
  )
}
