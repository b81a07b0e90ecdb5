import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button, CopyButton } from '../../parts/index.ts'

export interface SecretOnceProps {
  title: string
  secret: string
  /** What it is good for, and for how long. */
  children: ReactNode
  onClose(): void
}

/** What is shown this once: a token, a link, a recovery key. It lives in this page's memory until it is closed. */
export function SecretOnce({ title, secret, children, onClose }: SecretOnceProps) {
  return (
    <section className="card shown-once" aria-label={title}>
      <h2>{title}</h2>
      <p className="row shown-once-warning">
        <TriangleAlert size={16} aria-hidden="true" />
        Shown only once. Copy it now.
      </p>
      <div className="shown-once-key">
        <code className="breakable grow" data-testid="secret">
          {secret}
        </code>
        <CopyButton text={secret} variant="primary" small={false} />
      </div>
      <div className="quiet">{children}</div>
      <div>
        <Button onClick={onClose}>I have copied it</Button>
      </div>
    </section>
  )
}
