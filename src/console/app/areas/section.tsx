import { type ReactNode, useId } from 'react'

export interface SectionProps {
  title: string
  /** Its buttons, or a figure. */
  actions?: ReactNode
  /** As broad as the page. */
  wide?: boolean
  children: ReactNode
}

/** A part of a page with a name of its own. */
export function Section({ title, actions, wide = false, children }: SectionProps) {
  const id = useId()
  return (
    <section className={wide ? 'section section-wide' : 'section'} aria-labelledby={id}>
      <div className="row spread section-head">
        <h2 id={id}>{title}</h2>
        {actions === undefined ? null : <div className="row">{actions}</div>}
      </div>
      {children}
    </section>
  )
}
