import { type ReactNode, useEffect } from 'react'
import { Brand } from '../../shell/brand.tsx'

/** The frame of the pages before sign-in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · spgw`
  }, [title])
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <header className="row sign-in-head">
          <Brand />
          <h1>{title}</h1>
          <span className="quiet grow">{location.host}</span>
        </header>
        {children}
      </div>
    </main>
  )
}
