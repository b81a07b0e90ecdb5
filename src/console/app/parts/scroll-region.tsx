import type { ReactNode, RefObject } from 'react'

export interface ScrollRegionProps {
  label: string
  scrollRef?: RefObject<HTMLElement | null>
  children: ReactNode
}

/** What scrolls by itself. The keyboard must reach it, or nobody without a mouse sees the rest. */
export function ScrollRegion({ label, scrollRef, children }: ScrollRegionProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: WCAG asks for it (axe: scrollable-region-focusable).
    <section className="table-scroll" aria-label={label} tabIndex={0} {...(scrollRef && { ref: scrollRef })}>
      {children}
    </section>
  )
}
