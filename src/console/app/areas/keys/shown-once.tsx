import { TriangleAlert } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button, CopyButton, Time } from '../../parts/index.ts'
import type { CreatedKey } from '../outputs.ts'
import { KeySnippets } from './key-snippets-view.tsx'

export interface ShownOnceProps {
  made: CreatedKey
  /** While a rotation's grace runs: when the secret before ends. */
  graceEndsAt?: string | null
  onClose(): void
}

/** The one time that a key is shown: it lives in this page's memory until it is closed. */
export function ShownOnce({ made, graceEndsAt, onClose }: ShownOnceProps) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <section className="card shown-once" aria-labelledby="shown-once">
      <div className="row spread">
        <h2 id="shown-once" ref={title} tabIndex={-1}>
          {graceEndsAt === undefined ? `Key "${made.name}" created` : `New secret for key "${made.name}"`}
        </h2>
        <span className="quiet">
          {made.project}/{made.environment}
          {made.expires_at === null ? null : (
            <>
              , expires <Time at={made.expires_at} />
            </>
          )}
        </span>
      </div>
      <p className="row shown-once-warning">
        <TriangleAlert size={16} aria-hidden="true" />
        Copy it now. Only a hash is stored, so the key cannot be shown again.
      </p>
      <div className="shown-once-key">
        <code className="breakable grow" data-testid="secret">
          {made.key}
        </code>
        <CopyButton text={made.key} label="Copy key" variant="primary" small={false} />
      </div>
      {graceEndsAt ? (
        <p className="quiet">
          The old secret stays valid until <Time at={graceEndsAt} absolute /> (<Time at={graceEndsAt} />
          ), so that applications can switch.
        </p>
      ) : null}
      <h3>Use this key</h3>
      <KeySnippets scope={made} secret={made.key} />
      <div className="row form-actions">
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </section>
  )
}
