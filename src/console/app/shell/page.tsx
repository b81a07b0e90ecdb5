import { type ReactNode, useEffect } from 'react'
import { escapeControls } from '../../../admin/contract/show-value.ts'

export interface PageProps {
  title: string
  /** Before the title: where one came from. */
  above?: ReactNode
  /** Beside the title. */
  beside?: ReactNode
  /** The page's buttons. */
  actions?: ReactNode
  /** The title is a line that may be long: it is broken, and not cut. */
  wrap?: boolean
  /** Fills the window's height; what is within scrolls by itself. */
  fill?: boolean
  children: ReactNode
}

/** The frame of a page: its title, also in the window's, and its buttons. */
export function Page({ title, above, beside, actions, wrap = false, fill = false, children }: PageProps) {
  const shown = escapeControls(title)
  useEffect(() => {
    document.title = `${shown} · spgw`
  }, [shown])
  return (
    <div className={`page${fill ? ' page-fill' : ''}`}>
      <header className="page-head">
        {above === undefined ? null : <nav className="small page-above">{above}</nav>}
        <div className={wrap ? 'stack-tight' : 'row spread'}>
          <div className="row grow">
            <h1 className={wrap ? 'breakable' : 'truncate'} tabIndex={-1}>
              <bdi>{shown}</bdi>
            </h1>
            {beside}
          </div>
          {actions === undefined ? null : <div className="row page-actions">{actions}</div>}
        </div>
      </header>
      {children}
    </div>
  )
}

/** While a page's first data is on its way; shows itself only when that takes a while. */
export function Loading({ what = 'Loading' }: { what?: string }) {
  return (
    <p className="loading quiet" role="status">
      {what}
    </p>
  )
}
